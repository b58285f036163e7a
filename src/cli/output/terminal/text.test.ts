import { describe, expect, test } from 'vitest'
import { clean, oneLine, widthOf } from './text.ts'

describe('text of agents and tools', () => {
  test.each([
    ['colour', '\u001b[31mred\u001b[0m', 'red'],
    ['moving the cursor and clearing', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['writing to the clipboard (OSC 52)', 'a\u001b]52;c;aGk=\u0007b', 'ab'],
    ['a title, ended the other way', 'a\u001b]0;owned\u001b\\b', 'ab'],
    ['a sequence of one byte (C1)', 'a\u009b31mb\u009d0;x\u0007', 'ab0;x'],
    ['a device control string', 'a\u001bPq#0;2\u001b\\b', 'ab'],
    ['an escape that never ends', 'a\u001b]52;c;text', 'a52;c;text'],
    ['bells, backspaces and NUL', 'a\u0007\b\u0000b', 'ab'],
    ['a line that overwrites itself', 'safe\rrm -rf /', 'safe\nrm -rf /'],
    ['letters that run backwards', 'a\u202egpj.exe', 'agpj.exe'],
    ['marks that turn the order of letters', 'a\u061cb\u200ec\u200fd', 'abcd'],
  ])('is shown without %s', (_name, text, shown) => expect(clean(text)).toBe(shown))

  test('keeps ordinary text', () => {
    const text = 'ein\tTab\nzwei Zeilen, 中文, 👩‍👩‍👧, é'
    expect(clean(text)).toBe(text)
  })
})

test('a line is cut by its width, Han characters being two columns wide', () => {
  expect(oneLine('  one\n two ')).toBe('one two')
  expect(oneLine('软RAID阵列由多个磁盘组成', 10)).toBe('软RAID阵…')
  expect(widthOf(oneLine('软RAID阵列由多个磁盘组成', 10))).toBeLessThanOrEqual(10)
})
