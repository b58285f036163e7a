/** Which credential a secret belongs to, and whether it is still valid. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { newDirectory } from '../../test/fixtures/process/new-directory.ts'
import type { TokenHolder } from './access-tokens.ts'
import { Credentials, type KeyRing } from './key-ring.ts'

const HOUR = 60 * 60_000

let home: string
let time: number
let credentials: Credentials
let reported: unknown[]
beforeEach(() => {
  home = newDirectory()
  time = Date.parse('2026-01-02T03:04:05Z')
  credentials = new Credentials(home, { now: () => time })
  reported = []
})

const ring = (): KeyRing => credentials.ring((error) => reported.push(error))

function held(secret: string): TokenHolder {
  return ring().holderOf(secret) ?? expect.fail('it is known')
}

test('a credential is compared as a whole', () => {
  const token = credentials.tokens.add('ci', 'prompt')
  const device = credentials.devices.pair(credentials.devices.offer({ role: 'approve' }).code, 'phone').token
  const { code, link } = credentials.shares.add({ sessionId: 's1', tools: false, forMs: HOUR })
  expect(held(token)).toMatchObject({ kind: 'token', name: 'ci', role: 'prompt', scope: 'all' })
  expect(held(device)).toMatchObject({ kind: 'device', name: 'phone', role: 'approve', scope: 'all' })
  const scope = { sessions: ['s1'] }
  expect(held(code)).toMatchObject({ kind: 'share', name: link.id, role: 'read', scope, hidesTools: true })
  for (const wrong of ['', token.slice(1), `${token} `, token.toUpperCase(), 'ci', 'phone', link.id])
    expect(ring().holderOf(wrong)).toBeUndefined()
})

test('a credential that was removed, or has another role or scope, is no longer the same', () => {
  const { tokens } = credentials
  const holder = held(tokens.add('ci', 'admin'))
  expect(ring().changeFor(holder)).toBeUndefined()
  const file = join(home, 'access-tokens.json')
  const text = readFileSync(file, 'utf8')
  const scoped = text.replace('"role"', '"scope":{"sessions":["s"]},"role"')
  for (const change of [text.replace('"admin"', '"read"'), scoped]) {
    writeFileSync(file, change)
    expect(ring().changeFor(holder)).toBe('other role')
  }
  tokens.remove('ci')
  expect(ring().changeFor(holder)).toBe('removed')
  tokens.add('ci', 'admin')
  expect(ring().changeFor(holder)).toBe('removed')
})

test('a share link expires', () => {
  const holder = held(credentials.shares.add({ sessionId: 's1', tools: true, forMs: HOUR }).code)
  time += HOUR - 1
  expect(ring().changeFor(holder)).toBeUndefined()
  time += 1
  expect(ring().changeFor(holder)).toBe('removed')
  expect(credentials.shares.all()).toEqual([])
})

test('a share link is valid for 30 days at most', () => {
  const { link } = credentials.shares.add({ sessionId: 's1', tools: true, forMs: 1_000 * HOUR })
  expect(link.until).toBe('2026-02-01T03:04:05.000Z')
})

test('share links are revoked by id, or all of a session', () => {
  const add = (sessionId: string) => credentials.shares.add({ sessionId, tools: true, forMs: HOUR }).link
  const [first] = [add('s1'), add('s2'), add('s2')]
  expect(credentials.shares.remove(first?.id ?? '')).toEqual([first])
  expect(credentials.shares.remove('s2')).toHaveLength(2)
  expect(() => credentials.shares.remove('s2')).toThrow(/There is no share link "s2"/u)
})

test('a device that logs out is no longer accepted, and the others are', () => {
  const pair = () => held(credentials.devices.pair(credentials.devices.offer({ role: 'read' }).code, 'x').token)
  const [one, other] = [pair(), pair()]
  credentials.leave(one)
  expect([ring().changeFor(one), ring().changeFor(other)]).toEqual(['removed', undefined])
})

test('with a damaged file its credentials are refused and it is reported; other files still count', () => {
  const token = credentials.tokens.add('ci', 'read')
  credentials.shares.add({ sessionId: 's1', tools: true, forMs: HOUR })
  expect(ring().isWhole).toBe(true)
  for (const name of ['devices.json', 'share-links.json']) writeFileSync(join(home, name), '{"links":[1]}')
  expect(held(token).name).toBe('ci')
  const told = ['devices.json', 'share-links.json'].map(
    (name) => expect.stringContaining(`${name} cannot be used`) as string,
  )
  expect(reported.map(String)).toEqual(told)
  expect(ring().isWhole).toBe(false)
})
