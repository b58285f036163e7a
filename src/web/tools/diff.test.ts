import { expect, test } from 'vitest'
import { type DiffLine, diffOf, sideBySide } from './diff.ts'

const signs = { added: '+', removed: '-', same: ' ' }
const shown = (before: string, after: string) =>
  diffOf(before, after).rows.map((row) => (row.kind === 'gap' ? `… ${row.lines.length}` : signOf(row)))
const signOf = ({ kind, before, after, parts }: DiffLine) =>
  `${before ?? ''}/${after ?? ''} ${signs[kind]}${parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')}`

test.each([
  {
    what: 'changed: the changed words of a line are marked',
    files: ['a\nconst old = 1\n', 'a\nconst now = 1\n'],
    rows: ['1/1  a', '2/ -const [old] = 1', '/2 +const [now] = 1'],
  },
  {
    what: 'changed: words are marked where a line was changed and another inserted',
    files: ['const old = 1\n', 'const now = 1\nlog(now)\n'],
    rows: ['1/ -const [old] = 1', '/1 +const [now] = 1', '/2 +log(now)'],
  },
  {
    what: 'changed: lines with little in common are not compared by words',
    files: ['abc\n', 'xyz\n'],
    rows: ['1/ -abc', '/1 +xyz'],
  },
  { what: 'new', files: ['', 'a\nb\n'], rows: ['/1 +a', '/2 +b'] },
  { what: 'deleted', files: ['a\n', ''], rows: ['1/ -a'] },
  { what: 'with other line ends', files: ['a\r\nb\r\n', 'a\nb\n'], rows: ['1/1  a', '2/2  b'] },
  { what: 'the same', files: ['a', 'a'], rows: ['1/1  a'] },
])('a file that is $what', ({ files: [before = '', after = ''], rows }) => expect(shown(before, after)).toEqual(rows))

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
  const shown = rows.map((row) => (row.kind === 'gap' ? '…' : `${text(row.before)}|${text(row.after)}`))
  expect(shown).toEqual(['a|a', 'old|new', 'older|', 'z|z', '|last'])
})
