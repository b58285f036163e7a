/** Rows on a terminal as the user sees them, over any earlier rows. */
import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { describe, expect, test } from 'vitest'
import { Emulator } from '../../../../test/fixtures/terminal/emulator.ts'
import { TerminalScreen } from './screen.ts'

function stage(columns = 20, rows = 24) {
  const output = Object.assign(new PassThrough(), { columns, rows, isTTY: true })
  const seen = new Emulator(columns)
  const written: string[] = []
  output.on('data', (bytes: Buffer) => {
    written.push(bytes.toString())
    seen.write(bytes.toString())
  })
  const resize = (to: number): void => {
    output.columns = to
    seen.resize(to)
  }
  return { screen: new TerminalScreen(output as unknown as WriteStream), seen, written, resize }
}

describe('live rows', () => {
  test('are replaced, and finished rows stay above them', () => {
    const { screen, seen } = stage()
    screen.draw(['for good'], ['half a', '> line'])
    screen.draw([], ['half a sentence', 'more', '> line'])
    screen.draw(['half a sentence.'], ['> line'])
    expect(seen.rows).toEqual(['for good', 'half a sentence.', '> line'])
    screen.draw([], [])
    expect(seen.rows.join('|')).toBe('for good|half a sentence.|')
  })

  test('put the cursor where it is requested, and are redrawn from there', () => {
    const { screen, seen } = stage()
    screen.draw(['a'], ['b', '> line', 'status'], { row: 1, column: 4 })
    expect(seen.cursor).toEqual({ row: 2, column: 4 })
    screen.draw(['c'], ['> line', 'status'], { row: 0, column: 2 })
    expect({ rows: seen.rows, cursor: seen.cursor }).toEqual({
      rows: ['a', 'c', '> line', 'status'],
      cursor: { row: 2, column: 2 },
    })
  })

  test('that did not change are not written again', () => {
    const { screen, written } = stage()
    screen.draw([], ['same', 'wheel 1', 'status'])
    screen.draw([], ['same', 'wheel 2', 'status'])
    expect(written.at(-1)).not.toContain('same')
    expect(written.at(-1)).not.toContain('status')
    const count = written.length
    screen.draw([], ['same', 'wheel 2', 'status'])
    expect(written).toHaveLength(count)
  })

  test('are each one write, and are overwritten without being erased first', () => {
    const { screen, written } = stage()
    screen.draw(['a'], ['b', 'c'])
    screen.draw(['d'], ['e', 'f'])
    expect(written).toHaveLength(2)
    expect(written[1]?.indexOf('\u001b[J')).toBeGreaterThan(written[1]?.indexOf('f') ?? 0)
  })

  test.each([
    [20, 10],
    [10, 7],
    [40, 13],
  ])('are not duplicated when a terminal of %i columns is resized to %i', (before, after) => {
    const { screen, seen, resize } = stage(before)
    const row = '软RAID wide row, it is'.slice(0, before - 4)
    screen.draw(['good'], [row, '> line', 'status'], { row: 1, column: 6 })
    resize(after)
    screen.draw([], ['new', '> line', 'status'], { row: 1, column: 4 })
    expect(seen.rows).toEqual(['good', 'new', '> line', 'status'])
  })

  test('that do not fit are cut at the top', () => {
    const { screen, seen } = stage(20, 4)
    screen.draw([], ['1', '2', '3', '4', '5'], { row: 4, column: 1 })
    expect({ rows: seen.rows, cursor: seen.cursor }).toEqual({ rows: ['3', '4', '5'], cursor: { row: 2, column: 1 } })
  })
})

test('a line that other output has begun is continued', () => {
  const { screen, seen } = stage()
  screen.draw(['one'], ['live'])
  screen.draw([], [])
  seen.write('an answer')
  screen.draw([' goes on'], [])
  expect(seen.rows).toEqual(['one', 'an answer goes on', ''])
})
