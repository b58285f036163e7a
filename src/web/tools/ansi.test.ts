import { expect, test } from 'vitest'
import { linesOf, plainText } from './ansi.ts'

const ESC = '\u001b'
const styled = (output: string) => linesOf(output).map((runs) => runs.map(({ text, style }) => `${style}:${text}`))

test.each([
  ['plain', [[':plain']]],
  [`${ESC}[31mred${ESC}[0m no`, [['fg-1:red', ': no']]],
  [`${ESC}[1;4;92mx`, [['fg-10 bold underline:x']]],
  [`${ESC}[38;5;196mred${ESC}[39m`, [['fg-9:red']]],
  [`${ESC}[38;2;0;0;250mblue`, [['fg-12:blue']]],
  [`${ESC}[48;5;2mx${ESC}[49my`, [['bg-2:x', ':y']]],
  [`${ESC}[32ma\nb`, [['fg-2:a'], ['fg-2:b']]],
  [`${ESC}[1mx${ESC}[22my`, [['bold:x', ':y']]],
  [`${ESC}[m${ESC}[999mx`, [[':x']]],
] as const)('%j has its colours', (output, lines) => expect(styled(output)).toEqual(lines))

test.each([
  ['10%\r20%\r100%', '100%'],
  ['abcdef\rxy', 'xycdef'],
  ['line\r\nnext\r\n', 'line\nnext\n'],
  [`${ESC}[2J${ESC}[Hx${ESC}[3A`, 'x'],
  [`${ESC}]0;title\u0007x`, 'x'],
  [`${ESC}]8;;https://evil.example${ESC}\\link${ESC}]8;;${ESC}\\`, 'link'],
  [`${ESC}P1$r${ESC}\\x${ESC}(B${ESC}c`, 'x'],
  ['a\u0008\u0007b', 'ab'],
  [`unfinished ${ESC}[31`, 'unfinished '],
  [`${ESC}]0;never ends`, ''],
])('%j reads %j', (output, text) => expect(plainText(output)).toBe(text))

test('unterminated sequences cost no more than their length', () => {
  const hostile = `${ESC}]`.repeat(50_000) + `${ESC}[${';'.repeat(50_000)}`.repeat(2)
  expect(plainText(hostile).length).toBeLessThan(200_000)
})
