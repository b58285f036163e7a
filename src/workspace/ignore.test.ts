import ignore from 'ignore'
import { expect, test } from 'vitest'
import { usableRules } from './walk.ts'

const WRITTEN = '!dist/keep\n**/logs/**/*.log\na/**/b/**'
test.each([
  ['what people write', `# build\ndist/\n\n${WRITTEN}\n`, `dist/\n${WRITTEN}`],
  ['lines of Windows', 'dist\r\nout\r\n', 'dist\nout'],
  ['a line with many jumps', `${'**/a/'.repeat(9)}b\nkept`, 'kept'],
  ['a long line', `${'x'.repeat(2_000)}\nkept`, 'kept'],
])('%s', (_name, text, kept) => expect(usableRules(text)).toBe(kept))

test('of an endless file only the beginning counts', () => {
  const lines = Array.from({ length: 5_000 }, (_, at) => `name-${at}`)
  expect(usableRules(lines.join('\n')).split('\n')).toEqual(lines.slice(0, 1_000))
})

test('a hostile pattern is matched with a deep path in bounded time', () => {
  const rules = ignore().add(usableRules(`${'**/a/'.repeat(12)}b\n**/a/**/b`))
  expect(rules.ignores(`${'a/'.repeat(200)}c`)).toBe(false)
})
