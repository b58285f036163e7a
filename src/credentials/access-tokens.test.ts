/** Tokens are kept as hashes, in a file for the user alone, and stop working when they are removed. */
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { newDirectory } from '../../test/fixtures/process/new-directory.ts'
import { AccessTokens } from './access-tokens.ts'

let home: string
let time: number
let tokens: AccessTokens
beforeEach(() => {
  home = newDirectory()
  time = Date.parse('2026-01-02T03:04:05Z')
  tokens = new AccessTokens(home, { now: () => time })
})

const file = () => join(home, 'access-tokens.json')
const hash = () => tokens.stored()[0]?.sha256 ?? ''

test('a token is 256 random bits, and only its hash is kept, in a file with mode 600', () => {
  const token = tokens.add('ci', 'prompt')
  expect(Buffer.from(token.replace('parley_', ''), 'base64url')).toHaveLength(32)
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  const everything = readdirSync(home).map((name) => readFileSync(join(home, name), 'latin1'))
  expect(everything.join('')).not.toContain(token.slice('parley_'.length, 20))
  expect(tokens.all()).toEqual([{ name: 'ci', role: 'prompt', created: '2026-01-02T03:04:05.000Z' }])
})

test('a token can be limited to some sessions', () => {
  tokens.add('ci', 'prompt', { sessions: ['s1'] })
  tokens.add('home', 'read', { directories: ['/home/ada'] })
  expect(tokens.all().map(({ scope }) => scope)).toEqual([{ sessions: ['s1'] }, { directories: ['/home/ada'] }])
})

test('the last use is kept to the minute', () => {
  tokens.add('ci', 'read')
  const sha256 = hash()
  tokens.used(sha256)
  time += 59_000
  tokens.used(sha256)
  expect(tokens.all()).toMatchObject([{ lastUsed: '2026-01-02T03:04:05.000Z' }])
  time += 1_000
  tokens.used(sha256)
  expect(tokens.all()).toMatchObject([{ lastUsed: '2026-01-02T03:05:05.000Z' }])
  tokens.remove('ci')
  tokens.used(sha256)
  expect(tokens.all()).toEqual([])
})

test('what cannot be written is not blamed on the file, which stays as it was', () => {
  tokens.add('a', 'read')
  rmSync(`${file()}.lock`)
  mkdirSync(`${file()}.lock`)
  expect(() => tokens.add('b', 'read')).toThrow(/access-tokens\.json stay as they were/u)
  expect(tokens.all()).toMatchObject([{ name: 'a' }])
})

test('a name can be used once, and removed once', () => {
  tokens.add('ci', 'read')
  expect(() => tokens.add('ci', 'admin')).toThrow(/already/u)
  for (const name of ['', ' ', '../x', '-x', 'a b', 'x'.repeat(65)])
    expect(() => tokens.add(name, 'read')).toThrow(/cannot be the name/u)
  expect(() => tokens.remove('other')).toThrow(/There is no token "other"/u)
})

const DAMAGED = ['{', '[]', '{"tokens":[{"name":"a","role":"root","created":"x","sha256":""}]}', 'null']
test.each(DAMAGED)('with the file %s no token is accepted, and the file is not quoted', (text) => {
  writeFileSync(file(), text)
  for (const read of [() => tokens.all(), () => tokens.add('ci', 'read')])
    expect(read).toThrow(/access-tokens\.json cannot be used: it /u)
})
