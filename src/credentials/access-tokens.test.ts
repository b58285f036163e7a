/** Tokens are kept as hashes, in a file for the user alone, and stop working when they are removed. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AccessTokens } from './access-tokens.ts'

let home: string
let time: number
let tokens: AccessTokens
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'parley-tokens-'))
  time = Date.parse('2026-01-02T03:04:05Z')
  tokens = new AccessTokens(home, { now: () => time })
})
afterEach(() => rmSync(home, { recursive: true }))

const file = () => join(home, 'access-tokens.json')

test('a token is 256 random bits, and only its hash is kept, in a file with mode 600', () => {
  const token = tokens.add('ci', 'prompt')
  expect(Buffer.from(token.replace('parley_', ''), 'base64url')).toHaveLength(32)
  expect(statSync(file()).mode & 0o777).toBe(0o600)
  const everything = readdirSync(home).map((name) => readFileSync(join(home, name), 'latin1'))
  expect(everything.join('')).not.toContain(token.slice('parley_'.length, 20))
  expect(tokens.all()).toEqual([{ name: 'ci', role: 'prompt', created: '2026-01-02T03:04:05.000Z' }])
})

test('a token is known by all of its characters', () => {
  const token = tokens.add('ci', 'prompt')
  const ring = tokens.ring()
  expect(ring.holderOf(token)).toMatchObject({ name: 'ci', role: 'prompt' })
  for (const wrong of ['', token.slice(1), `${token} `, token.toUpperCase(), 'ci']) {
    expect(ring.holderOf(wrong)).toBeUndefined()
  }
})

test('what is removed, or has another role, is known no longer as what it was', () => {
  const token = tokens.add('ci', 'admin')
  const holder = tokens.ring().holderOf(token)
  if (holder === undefined) throw new Error('it is known')
  expect(tokens.ring().changeFor(holder)).toBeUndefined()
  writeFileSync(file(), readFileSync(file(), 'utf8').replace('"admin"', '"read"'))
  expect(tokens.ring().changeFor(holder)).toBe('other role')
  tokens.remove('ci')
  expect(tokens.ring().changeFor(holder)).toBe('removed')
  tokens.add('ci', 'admin')
  expect(tokens.ring().changeFor(holder)).toBe('removed')
})

test('the last use is kept to the minute', () => {
  const token = tokens.add('ci', 'read')
  const holder = tokens.ring().holderOf(token)
  if (holder === undefined) throw new Error('it is known')
  tokens.used(holder)
  time += 59_000
  tokens.used(holder)
  expect(tokens.all()).toMatchObject([{ lastUsed: '2026-01-02T03:04:05.000Z' }])
  time += 1_000
  tokens.used(holder)
  expect(tokens.all()).toMatchObject([{ lastUsed: '2026-01-02T03:05:05.000Z' }])
  tokens.remove('ci')
  tokens.used(holder)
  expect(tokens.all()).toEqual([])
})

test('a name is taken once, and removed once', () => {
  tokens.add('ci', 'read')
  expect(() => tokens.add('ci', 'admin')).toThrow(/already/u)
  for (const name of ['', ' ', '../x', '-x', 'a b', 'x'.repeat(65)]) {
    expect(() => tokens.add(name, 'read')).toThrow(/cannot be the name/u)
  }
  expect(() => tokens.remove('other')).toThrow(/There is no token "other"/u)
})

test.each(['{', '[]', '{"tokens":[{"name":"a","role":"root","created":"x","sha256":""}]}', 'null'])(
  'the file %s lets nobody in, and is not quoted',
  (text) => {
    writeFileSync(file(), text)
    for (const read of [() => tokens.ring(), () => tokens.add('ci', 'read')]) {
      expect(read).toThrow(/access-tokens\.json cannot be used: it /u)
    }
  },
)
