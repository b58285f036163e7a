import { array, assert, constantFrom, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { paintFor } from './colors.ts'
import { Flow, type FlowOptions } from './flow.ts'
import { widthOf } from './text.ts'

const plain = paintFor(false)

function rowsOf(pieces: readonly string[], width = 30, options: Partial<FlowOptions> = {}): readonly string[] {
  const flow = new Flow({ paint: plain, width: () => width, ...options })
  return [...pieces.flatMap((piece) => flow.push(piece)), ...flow.end()]
}

const HAN = '软阵列由多个磁盘组成。卷组可以跨越。'
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'
const MARKS = '**bold** and `code`, but 2 ** 3, src/**/*.ts and a ` alone'

describe('streamed text', () => {
  test.each([
    ['breaks between words', 16, 'The quick fox jumps over it.', ['The quick fox', 'jumps over it.']],
    [
      'breaks between Han characters, and never before a full stop',
      20,
      HAN,
      ['软阵列由多个磁盘组', '成。卷组可以跨越。'],
    ],
    ['breaks inside a word only when it is wider than a row', 10, ALPHABET, ['abcdefghij', 'klmnopqrst', 'uvwxyz']],
    [
      'loses Markdown marks only where these have a meaning',
      80,
      MARKS,
      ['bold and code, but 2 ** 3, src/**/*.ts and a ` alone'],
    ],
  ])('%s', (...[, width, text, rows]) => expect(rowsOf([text], width)).toEqual(rows))

  test('show a list, a quote, a heading and a block of code', () => {
    const text =
      '# Title\n\n- an item that is longer than a row is\n  1. first\n> a quote that is longer than one row\n```js\nlet **a** = 1\n```\n'
    expect(rowsOf([text])).toEqual([
      'Title',
      '',
      '• an item that is longer than',
      '  a row is',
      '  1. first',
      '│ a quote that is longer than',
      '│ one row',
      '```js',
      '  let **a** = 1',
      '```',
    ])
  })

  test('are coloured if colour is enabled', () => {
    expect(rowsOf(['**bold**'], 80, { paint: paintFor(true) })).toEqual(['\u001b[1mbold\u001b[22m'])
  })

  test('cannot send control sequences to the terminal, however they are split', () => {
    expect(rowsOf(['a\u001b', ']52;c;aGk=', '\u0007b\u001b[', '2Jc'])).toEqual(['abc'])
  })

  test('show an unfinished long line, and redraw only its last rows', () => {
    const flow = new Flow({ paint: plain, width: () => 20 })
    const settled = flow.push('word '.repeat(200))
    expect(settled.length).toBeGreaterThan(30)
    expect(flow.open().length).toBeLessThanOrEqual(9)
    expect([...settled, ...flow.end()].join(' ').split(/\s+/).filter(Boolean)).toHaveLength(200)
  })
})

test('the rows are the same however the text arrives, and none is wider than the terminal', () => {
  const word = constantFrom('a', 'word', '软件', '阵列。', 'longerword', '\n', ' ', '- ', 'x'.repeat(25), '\t')
  const pieces = array(
    array(word).map((words) => words.join(' ')),
    { maxLength: 20 },
  )
  assert(
    property(pieces, integer({ min: 12, max: 40 }), (pieces, width) => {
      const streamed = rowsOf(pieces, width)
      expect(streamed).toEqual(rowsOf([pieces.join('')], width))
      for (const row of streamed) expect(widthOf(row)).toBeLessThanOrEqual(width)
    }),
    { numRuns: 300 },
  )
})
