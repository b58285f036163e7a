/** The line that a user types: the effect of each key, and the completions of Tab. */
import { describe, expect, test } from 'vitest'
import { paintFor } from '../../output/terminal/colors.ts'
import { KeyDecoder } from '../../output/terminal/key-decoder.ts'
import { ChatComposer } from './composer.ts'

const [UP, DOWN, RIGHT, LEFT] = ['\u001b[A', '\u001b[B', '\u001b[C', '\u001b[D']
const frame = { height: 9, hint: '' }
const look = { paint: paintFor(false), width: () => 20 }

function composer(history: readonly string[] = []) {
  const made = new ChatComposer({
    commands: () => ['review', 'revert'].map((name) => ({ name, hint: 'FILE', description: `To ${name}` })),
    suggest: async (command, text) =>
      command === 'review' && text === 'a.ts sr'
        ? { value: 'sr', values: ['src/main.ts'] }
        : { value: text, values: ['one', 'two'].filter((word) => word.startsWith(text)) },
    changed: () => undefined,
  })
  made.editor.remember(history)
  return made
}

/** The line after these keys, and what the last one was. */
function typed(keys: string, history: readonly string[] = []) {
  const made = composer(history)
  const pressed = new KeyDecoder().push(keys).map((key) => made.press(key))
  return { text: made.editor.text, last: pressed.at(-1), made }
}

describe('keys', () => {
  test.each([
    ['arrows move by what people see as one character', `软👩‍👩‍👧b${LEFT}${LEFT}x`, '软x👩‍👩‍👧b'],
    ['the right arrow not beyond the end', `ab${LEFT}${LEFT}${RIGHT}x${RIGHT}${RIGHT}y`, 'axby'],
    ['Home and End, of the line', `one\u001b\rtwo\u0001x\u0005y`, 'one\nxtwoy'],
    ['words, back and forth', `one two\u001bb\u001bbx\u001bfy`, 'xoney two'],
    ['Ctrl-W deletes a word, Ctrl-Y brings it back', 'one two\u0017\u0019!', 'one two!'],
    ['Ctrl-U deletes to the beginning, Ctrl-K to the end', `one two${LEFT}${LEFT}\u000b\u0015x`, 'x'],
    ['Backspace and Delete', `abcd${LEFT}\u007f\u001b[3~`, 'ab'],
    ['a backslash before Enter makes a new line', 'one\\\rtwo', 'one\ntwo'],
    ['so do Alt, Shift and Ctrl-J', 'a\u001b\rb\u001b[13;2uc\nd', 'a\nb\nc\nd'],
    ['a paste keeps its lines', '\u001b[200~a\r\nb\u001b[201~', 'a\nb'],
    ['up and down between lines keep the column', `abc\u001b\rde\u001b\rfgh${UP}x${UP}y`, 'abcy\ndex\nfgh'],
  ])('%s', (_name, keys, text) => expect(typed(keys).text).toBe(text))

  test.each([
    ['Enter', 'hello\r', 'hello', 'enter'],
    ['Ctrl-D on an empty line', '\u0004', '', 'unused'],
    ['Esc', 'a\u001b[27u', 'a', 'unused'],
  ])('%s changes no text: the caller handles it', (...[, keys, text, last]) => {
    expect(typed(keys)).toMatchObject({ text, last })
  })

  test.each([
    ['the newest first, then the older ones', `${UP}${UP}`, 'older\nprompt'],
    ['and back to what was written', `draft${UP}${DOWN}`, 'draft'],
    ['to be edited', `${UP}!`, 'newest!'],
    ['as far as there are any', `${UP}${UP}${UP}${UP}`, 'older\nprompt'],
  ])('earlier prompts: %s', (_name, keys, text) => expect(typed(keys, ['newest', 'older\nprompt']).text).toBe(text))

  test('sent prompts can be searched', () => {
    const { made } = typed('one')
    made.editor.take()
    for (const key of new KeyDecoder().push(UP)) made.press(key)
    expect(made.editor.text).toBe('one')
  })
})

describe('Tab', () => {
  const SRC = '/review a.ts src/main.ts'

  test.each([
    ['completes a command', '/revi\t', '/review '],
    ['as far as those that fit have in common', '/r\t', '/rev'],
    ['completes the word behind a command, and keeps those before it [X7]', '/review a.ts sr\t', SRC],
    ['leaves alone what could become several things', '/review \t', '/review '],
    ['leaves alone what is no command', 'words\t', 'words'],
  ])('%s', async (_name, keys, becomes) => {
    const { made } = typed(keys)
    await new Promise((resolve) => setImmediate(resolve))
    expect(made.editor.text).toBe(becomes)
  })

  test('shows completions of a word, until the next key', async () => {
    const { made } = typed('/review \t')
    await new Promise((resolve) => setImmediate(resolve))
    expect(made.rows(look, frame).rows).toEqual(['› /review ', '  one, two'])
    for (const key of new KeyDecoder().push('o')) made.press(key)
    expect(made.rows(look, frame).rows).toEqual(['› /review o'])
  })

  test('keeps what is typed meanwhile', async () => {
    const { made } = typed('/review a.ts sr\tx')
    await new Promise((resolve) => setImmediate(resolve))
    expect(made.editor.text).toBe('/review a.ts srx')
  })
})

describe('the rows of the composer', () => {
  const rowsOf = (keys: string, height = 9) => typed(keys).made.rows(look, { ...frame, height })

  test('are broken where the terminal ends, Han characters being two columns wide', () => {
    const rows = ['› 软RAID阵列由多个磁', '  盘组成']
    expect(rowsOf('软RAID阵列由多个磁盘组成')).toEqual({ rows, cursor: { row: 1, column: 8 } })
  })

  test('are those around the cursor if there are too many', () => {
    const { rows, cursor } = rowsOf(`1\n2\n3\n4\n5\n6${UP}${UP}${UP}`, 3)
    expect({ rows, cursor }).toEqual({ rows: ['  2', '  3', '  4'], cursor: { row: 1, column: 3 } })
  })

  test('of a very long prompt are laid out around the cursor', () => {
    const { rows } = rowsOf(`\u001b[200~${'word '.repeat(200_000)}\u001b[201~`, 3)
    expect(rows).toHaveLength(3)
  })

  test('list the slash commands with the typed prefix', () => {
    const wide = { ...look, width: () => 60 }
    expect(typed('/revi').made.rows(wide, frame).rows).toEqual(['› /revi', `  ${'/review FILE'.padEnd(26)} To review`])
  })
})
