/** The bytes that terminals send for keys, in whatever pieces they arrive. */
import { describe, expect, test } from 'vitest'
import { type Key, KeyDecoder } from './key-decoder.ts'

function decoded(...pieces: readonly string[]): readonly Key[] {
  const decoder = new KeyDecoder()
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.flush()]
}

/** Such as `ctrl-alt-left`; what types something in quotes. */
function named({ text, name, ctrl, alt, shift }: Key): string {
  if (name === 'paste') return `paste ${JSON.stringify(text)}`
  if (text !== '') return JSON.stringify(text)
  return [ctrl ? 'ctrl' : '', alt === true ? 'alt' : '', shift === true ? 'shift' : '', name].filter(Boolean).join('-')
}

describe.each([
  ['letters, also of other scripts', 'aß软', ['"a"', '"ß"', '"软"']],
  ['Enter, Ctrl-J, Tab and Backspace', '\r\n\t\u007f\b', ['return', 'ctrl-j', 'tab', 'backspace', 'backspace']],
  ['Ctrl and a letter', '\u0001\u0003\u0017', ['ctrl-a', 'ctrl-c', 'ctrl-w']],
  ['arrows of both kinds', '\u001b[A\u001bOB\u001b[C\u001bOD', ['up', 'down', 'right', 'left']],
  ['Home and End of several terminals', '\u001b[H\u001bOF\u001b[1~\u001b[8~', ['home', 'end', 'home', 'end']],
  ['Delete', '\u001b[3~', ['delete']],
  ['modifiers', '\u001b[1;5D\u001b[1;3C\u001b[3;5~\u001b[Z', ['ctrl-left', 'alt-right', 'ctrl-delete', 'shift-tab']],
  ['Alt as an Esc before a key', '\u001bb\u001b\r\u001b\u007f', ['alt-b', 'alt-return', 'alt-backspace']],
  ['kitty’s protocol', '\u001b[13;2u\u001b[99;5u\u001b[27u', ['shift-return', 'ctrl-c', 'escape']],
  ['letters in kitty’s protocol', '\u001b[98;3u\u001b[97;2u', ['alt-b', '"A"']],
  ['xterm’s modifyOtherKeys', '\u001b[27;2;13~\u001b[27;5;99~', ['shift-return', 'ctrl-c']],
  ['a paste, with line ends of any kind', '\u001b[200~a\r\nb\rc\n\u001b[201~d', ['paste "a\\nb\\nc\\n"', '"d"']],
  ['a paste without what would move the cursor', '\u001b[200~a\u001b[2Jb\u0007\u001b[201~', ['paste "ab"']],
  ['Esc alone, and before another', '\u001b\u001b', ['escape', 'escape']],
  ['nothing of what it does not know', '\u001b[99Xa\u001bOXb\u001b[57358u\u0000\u001c', ['"a"', '"b"']],
])('%s', (_name, sent, keys) => {
  test('at once', () => expect(decoded(sent).map(named)).toEqual(keys))
  test('byte by byte', () => expect(decoded(...sent).map(named)).toEqual(keys))
})

test('one grapheme is one key', () => expect(decoded('👩‍👩‍👧é').map(named)).toEqual(['"👩‍👩‍👧"', '"é"']))

test('Esc is a key of its own only if no sequence follows in time', () => {
  const decoder = new KeyDecoder()
  expect(decoder.push('\u001b')).toEqual([])
  expect(decoder.isWaiting).toBe(true)
  expect(decoder.push('[A').map(named)).toEqual(['up'])
  expect(decoder.isWaiting).toBe(false)
  expect(decoder.flush()).toEqual([])
})

test('a paste is decoded when it ends, however long that takes', () => {
  const decoder = new KeyDecoder()
  expect([...decoder.push('\u001b[200~one\r'), ...decoder.flush(), ...decoder.push('two\u001b[20')]).toEqual([])
  expect(decoder.push('1~').map(named)).toEqual(['paste "one\\ntwo"'])
})

test('the cost of a long paste is linear', () => {
  const text = '软 word\n'.repeat(100_000)
  expect(decoded(`\u001b[200~${text}\u001b[201~`)[0]?.text).toHaveLength(text.length)
})
