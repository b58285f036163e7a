/** A form at a keyboard, key by key, and what leaves it. */
import { expect, test } from 'vitest'
import { paintFor } from '../../output/terminal/colors.ts'
import { widthOf } from '../../output/terminal/text.ts'
import { fieldsIn } from '../../../form/fields.ts'
import { type Filled, type Filling, begun, isFilled, pressed } from './filling.ts'
import { formRows } from './form-rows.ts'

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your \u001b[31mname\u0007', description: 'As\nit is', minLength: 2 },
    size: { type: 'string', enum: ['small', 'large'], default: 'large' },
    age: { type: 'integer', default: 7 },
  },
  required: ['name'],
}

/** `\r` is Enter, `\u001b` Esc, `\u0003` Ctrl-C, `\b` backspace and `\u0015` Ctrl-U. */
function type(keys: string, from: Filling = begun(fieldsIn(schema) ?? [])): Filling | Filled {
  let filling = from
  for (const text of keys) {
    const next = pressed(filling, { text: NAMES[text] === undefined ? text : '', ...(NAMES[text] ?? PLAIN) })
    if (isFilled(next)) return next
    filling = next
  }
  return filling
}

const PLAIN = { name: '', ctrl: false }
const NAMES: Readonly<Record<string, typeof PLAIN>> = {
  '\r': { name: 'return', ctrl: false },
  '\u001b': { name: 'escape', ctrl: false },
  '\u0003': { name: 'c', ctrl: true },
  '\b': { name: 'backspace', ctrl: false },
  '\u0015': { name: 'u', ctrl: true },
}

function rows(keys: string, columns = 80): readonly string[] {
  const filling = type(keys)
  return isFilled(filling) ? [filling.action] : formRows(filling, { paint: paintFor(false), width: () => columns })
}

const PROPOSED = { action: 'accept', content: { name: 'Ada', size: 'large', age: 7 } }
test.each([
  ['all that was typed', 'Ada\r1\r36\rs', { action: 'accept', content: { name: 'Ada', size: 'small', age: 36 } }],
  ['what it proposes, by Enter', 'Ada\r\r\rs', PROPOSED],
  ['nothing of what was left empty', 'Ada\r-\r-\rs', { action: 'accept', content: { name: 'Ada' } }],
  ['what was put right at once', 'A\rAda\r\r\rs', PROPOSED],
  ['what was edited', 'xx\u0015Adax\b\r\r\rs', PROPOSED],
  ['what was changed at the end', 'Ada\r\r\re\r1\r-\rs', { action: 'accept', content: { name: 'Ada', size: 'small' } }],
  ['no, at the end', 'Ada\r\r\rd', { action: 'decline' }],
  ['no, in the middle', 'Ada\r/decline\r', { action: 'decline' }],
  ['neither, by c at the end', 'Ada\r\r\rc', { action: 'cancel' }],
  ['neither, by Esc', 'Ada\r\u001b', { action: 'cancel' }],
  ['neither, by Ctrl-C', '\u0003', { action: 'cancel' }],
])('sends %s', (_what, keys, filled) => expect(type(keys)).toEqual(filled))

test.each(['', 'Ada\r\r\r', 'Ada\r\r\rxyz\r', '\r\r\r\rs'])(
  'does not send the form before it is confirmed: %j',
  (keys) => expect(type(keys)).not.toHaveProperty('action'),
)

test('a field shows its title, its default and its error; none of them can move the cursor', () => {
  expect(rows('A\rAd')).toEqual([
    '? Your name * (1 of 3)',
    '    As it is',
    '    at least 2 characters; * needs an answer',
    '    That is shorter than 2 characters.',
    '  › Ad',
  ])
  expect(rows('Ada\r')).toEqual([
    '? size (2 of 3)',
    '  1  small',
    '  2  large',
    '    a number of these; Enter takes [large]; - leaves it empty',
    '  › ',
  ])
})

test('at the end all values to be sent are shown', () => {
  expect(rows('Ada\r\r-\r')).toEqual([
    '? Send this?',
    '    Your name: Ada',
    '    size: large',
    '    age: (empty)',
    '    s sends it, d declines, c cancels, e goes through it again',
  ])
})

test.each(['', '软'.repeat(60), 'Ada\r', 'Ada\r\r\r'])('no row is wider than a narrow terminal: %j', (keys) => {
  for (const row of rows(keys, 30)) expect(widthOf(row)).toBeLessThanOrEqual(30)
})

test('a form without fields is only confirmed', () => {
  expect(type('s', begun([]))).toEqual({ action: 'accept', content: {} })
})
