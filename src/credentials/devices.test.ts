/** A pairing code makes one device, once, in its ten minutes; devices that are not used for long are devices no longer. */
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { newDirectory } from '../../test/fixtures/process/new-directory.ts'
import { Devices } from './devices.ts'

const DAY = 24 * 60 * 60_000

let home: string
let time: number
let devices: Devices
beforeEach(() => {
  home = newDirectory()
  time = Date.parse('2026-01-02T03:04:05Z')
  devices = new Devices(home, { now: () => time })
})

const file = () => join(home, 'devices.json')
const offered = (role: 'read' | 'approve' = 'read') => devices.offer({ role }).code
const names = () => devices.all().map(({ name }) => name)

test('a pairing code of 128 random bits creates a device once; neither it nor the token is stored', () => {
  const code = offered('approve')
  expect(code).toMatch(/^[\w-]{26}$/u)
  const { device, token } = devices.pair(code, 'Firefox on Linux')
  expect(device).toMatchObject({ name: 'Firefox on Linux', role: 'approve', created: '2026-01-02T03:04:05.000Z' })
  expect(Buffer.from(token.replace('parley_', ''), 'base64url')).toHaveLength(32)
  expect(() => devices.pair(code, 'again')).toThrow(/it was used, or is too old\. .*parley pair/u)
  expect(devices.all()).toEqual([device])
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  const everything = readdirSync(home).map((name) => readFileSync(join(home, name), 'latin1'))
  for (const secret of [code.slice(4), token.slice('parley_'.length)]) expect(everything.join('')).not.toContain(secret)
})

test('a pairing code is valid for ten minutes', () => {
  const [early, late] = [offered(), offered()]
  time += 10 * 60_000 - 1
  devices.pair(early, 'a')
  time += 1
  expect(() => devices.pair(late, 'b')).toThrow(/too old/u)
  expect(names()).toEqual(['a'])
})

test('five wrong attempts end a code, four do not, and those for another code do not count', () => {
  const [code, other] = [offered(), offered()]
  const wrong = `${code.slice(0, 4)}${'x'.repeat(22)}`
  for (let tries = 0; tries < 4; tries += 1) expect(() => devices.pair(wrong, 'x')).toThrow(/not complete/u)
  expect(() => devices.pair('x'.repeat(26), 'x')).toThrow(/used/u)
  expect(() => devices.pair(wrong, 'x')).toThrow(/not complete/u)
  expect(() => devices.pair(code, 'x')).toThrow(/used/u)
  expect(devices.pair(other, 'phone').device.name).toBe('phone')
})

test('an attempt with the beginning of no code writes nothing, since any client of the port can make one', () => {
  devices.offer({ role: 'read' })
  const before = statSync(file()).ino
  expect(() => devices.pair('x'.repeat(26), 'x')).toThrow(/used/u)
  expect(statSync(file()).ino).toBe(before)
})

test('a device is named by the inviting user, else by itself, else by Parley; names are unique', () => {
  const pair = (said: string, name?: string) =>
    devices.pair(devices.offer({ role: 'read', ...(name !== undefined && { name }) }).code, said).device.name
  expect(pair('Firefox', "Ada's phone")).toBe("Ada's phone")
  expect([pair('Firefox'), pair('Firefox'), pair('Firefox')]).toEqual(['Firefox', 'Firefox 2', 'Firefox 3'])
  expect([pair(''), pair('a\u202eb'), pair('\u001b[2J')]).toEqual(['device', 'device 2', 'device 3'])
  for (const name of ['', ' ', 'a\nb', ' a', 'x'.repeat(65)])
    expect(() => devices.offer({ role: 'read', name })).toThrow(/cannot be the name of a device/u)
})

test('a device is valid until it was not used for 90 days, or is removed by name or id', () => {
  const ids = ['a', 'b', 'c'].map((name) => devices.pair(offered(), name).device.id)
  time += 89 * DAY
  devices.used(devices.stored()[0]?.sha256 ?? '')
  time += DAY
  expect(names()).toEqual(['a'])
  devices.pair(offered(), 'd')
  devices.remove('d')
  devices.remove(ids[0] ?? '')
  expect(names()).toEqual([])
  expect(() => devices.remove('d')).toThrow(/There is no device "d"\. .*parley devices/u)
})

const DAMAGED = ['{', '[]', '{"devices":[]}', '{"devices":[{"id":"a"}],"codes":[]}', 'null']
test.each(DAMAGED)('the file %s is refused, and is not quoted', (text) => {
  writeFileSync(file(), text)
  for (const read of [() => devices.all(), () => offered(), () => devices.pair('x', 'y')])
    expect(read).toThrow(/devices\.json cannot be used: it /u)
  expect(readFileSync(file(), 'utf8')).toBe(text)
})
