/** Patterns of rules, and that no pattern takes long. */
import { expect, test } from 'vitest'
import { fitsPath, fitsWord } from './path-rules.ts'

test.each([
  ['*', '', true],
  ['git*', 'github__get', true],
  ['*__get_*', 'github__get_issue', true],
  ['get', 'get_issue', false],
  ['g?t', 'get', true],
  ['g?t', 'gt', false],
  ['*a*b', 'xaxbxaxb', true],
  ['a.c', 'abc', false],
])('a word %j against %j: %j', (pattern, word, isFit) => expect(fitsWord(pattern, word)).toBe(isFit))

test.each([
  ['.env', '.env', true],
  ['.env', 'apps/web/.env', true],
  ['.env', '.envrc', false],
  ['.env*', 'a/.env.local', true],
  ['/build', 'build/out.js', true],
  ['/build', 'src/build/out.js', false],
  ['build', 'src/build/out.js', true],
  ['src/**', 'src/a/b.ts', true],
  ['src/**', 'src', false],
  ['src/**', 'lib/src/a.ts', false],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/a/b.ts', false],
  ['**/test', 'a/b/test/c.ts', true],
  ['**/test', 'test', true],
  ['src/**/test/*.ts', 'src/test/a.ts', true],
  ['src/**/test/*.ts', 'src/a/b/test/a.ts', true],
  ['src/', 'src/a.ts', true],
  ['**', '', true],
  ['**', 'a/b', true],
])('a path %j against %j: %j', (pattern, path, isFit) => expect(fitsPath(pattern, path)).toBe(isFit))

test('a hostile pattern is matched in bounded time', () => {
  expect(fitsWord(`${'a*'.repeat(400)}b`, 'a'.repeat(4_000))).toBe(false)
  expect(fitsPath(`${'**/a/'.repeat(300)}b`, 'a/'.repeat(2_000))).toBe(false)
})
