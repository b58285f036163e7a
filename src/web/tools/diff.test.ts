import { expect, test } from 'vitest'
import { type DiffLine, diffOf, sideBySide } from './diff.ts'

const signs = { added: '+', removed: '-', same: ' ' }
const shown = (before: string, after: string) =>
  diffOf(before, after).rows.map((row) => (row.kind === 'gap' ? `… ${row.lines.length}` : signOf(row)))
const signOf = ({ kind, before, after, parts }: DiffLine) =>
  `${before ?? ''}/${after ?? ''} ${signs[kind]}${parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')}`

test('a changed line is a removal and an insertion, with the changed words marked', () =>
  expect(shown('a\nconst old = 1\n', 'a\nconst now = 1\n')).toEqual([
    '1/1  a',
    '2/ -const [old] = 1',
    '/2 +const [now] = 1',
  ]))

test('words are marked where a line was changed and another inserted', () =>
  expect(shown('const old = 1\n', 'const now = 1\nlog(now)\n')).toEqual([
    '1/ -const [old] = 1',
    '/1 +const [now] = 1',
    '/2 +log(now)',
  ]))

test('lines with little in common are not compared by words', () =>
  expect(shown('abc\n', 'xyz\n')).toEqual(['1/ -abc', '/1 +xyz']))

test.each([
  { what: 'new', before: '', after: 'a\nb\n', rows: ['/1 +a', '/2 +b'] },
  { what: 'deleted', before: 'a\n', after: '', rows: ['1/ -a'] },
  { what: 'with other line ends', before: 'a\r\nb\r\n', after: 'a\nb\n', rows: ['1/1  a', '2/2  b'] },
  { what: 'the same', before: 'a', after: 'a', rows: ['1/1  a'] },
])('a file that is $what', ({ before, after, rows }) => expect(shown(before, after)).toEqual(rows))

test('unchanged lines are folded except for three', () => {
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n}`)
  const after = lines.with(50, 'changed').join('\n')
  expect(shown(lines.join('\n'), after)).toEqual([
    '… 47',
    ...[48, 49, 50].map((n) => `${n}/${n}  line ${n - 1}`),
    '51/ -line 50',
    '/51 +changed',
    ...[52, 53, 54].map((n) => `${n}/${n}  line ${n - 1}`),
    '… 46',
  ])
})

test('counts are of all lines, whatever is folded', () =>
  expect(diffOf('a\nb\nc', 'a\nx\ny\nc')).toMatchObject({ added: 2, removed: 1 }))

test('twenty thousand different lines are one removed and one inserted block', () => {
  const text = (word: string) => Array.from({ length: 20_000 }, (_, n) => `${word} ${n * 7}`).join('\n')
  expect(diffOf(text('before'), text('after'))).toMatchObject({ added: 20_000, removed: 20_000 })
})

test('side by side, a removal and its insertion are in one row, and a missing side is empty', () => {
  const rows = sideBySide(diffOf('a\nold\nolder\nz\n', 'a\nnew\nz\nlast\n').rows)
  const text = (line: DiffLine | undefined) => line?.parts.map((part) => part.text).join('') ?? ''
  expect(rows.map((row) => (row.kind === 'gap' ? ['…'] : [text(row.before), text(row.after)]))).toEqual([
    ['a', 'a'],
    ['old', 'new'],
    ['older', ''],
    ['z', 'z'],
    ['', 'last'],
  ])
})
