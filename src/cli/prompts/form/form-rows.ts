/** A form as rows: the field that is asked, and at the end all that would be sent. */
import type { Style } from '../../output/terminal/colors.ts'
import { clean, oneLine } from '../../output/terminal/text.ts'
import { wrapSpans } from '../../output/terminal/wrap.ts'
import type { Look } from '../../output/view/rows.ts'
import { EMPTY_ANSWER } from './answers.ts'
import type { Field } from '../../../form/fields.ts'
import { hintOf, shownValue } from './fields.ts'
import { type Filling, canBeEmptied, takenBy } from './filling.ts'

/** More rows would leave the screen at its top, so they are printed permanently above. */
export const MANY = 10

/** Letters of the form's own words that are laid out at all. */
const MAX_TEXT_LENGTH = 1_000

export function formRows(filling: Filling, look: Look): readonly string[] {
  const field = filling.fields[filling.at]
  return field === undefined ? summaryRows(filling, look) : fieldRows(filling, field, look)
}

function fieldRows(filling: Filling, field: Field, look: Look): readonly string[] {
  const { at, fields, typed, sentence } = filling
  const place = fields.length > 1 ? ` (${at + 1} of ${fields.length})` : ''
  const mark = field.required ? ' *' : ''
  return [
    ...wrapped({ first: '? ', style: 'bold', text: `${oneLine(field.title, 200)}${mark}${place}` }, look),
    ...(field.description === undefined ? [] : wrapped({ style: 'dim', text: oneLine(field.description, 400) }, look)),
    ...(field.choices.length > MANY ? [] : choiceRows(field, look)),
    ...wrapped({ style: 'dim', text: helpOf(filling, field) }, look),
    ...(sentence === '' ? [] : wrapped({ style: 'bad', text: clean(sentence) }, look)),
    ...wrapped({ first: '  › ', rest: '    ', style: 'plain', text: typed }, look),
  ]
}

export function choiceRows({ choices }: Field, look: Look): readonly string[] {
  const broad = String(choices.length).length
  return choices.flatMap(({ title }, index) => {
    const first = `  ${String(index + 1).padStart(broad)}  `
    return wrapped({ first, rest: ' '.repeat(first.length), style: 'plain', text: oneLine(title, 400) }, look)
  })
}

/** How to answer, what Enter does, and how to leave it empty. */
function helpOf(filling: Filling, field: Field): string {
  const taken = takenBy(filling, field)
  const enter =
    taken !== undefined ? `Enter takes [${cutValue(field, taken)}]` : field.required ? '' : 'Enter leaves it empty'
  const emptied = canBeEmptied(filling, field) ? `${EMPTY_ANSWER} leaves it empty` : ''
  const needed = field.required ? '* needs an answer' : ''
  return [hintOf(field), enter, emptied, needed].filter((part) => part !== '').join('; ')
}

function summaryRows({ fields, answers }: Filling, look: Look): readonly string[] {
  const answered = fields.flatMap((field) => {
    const title = oneLine(field.title, 60)
    return wrapped({ style: 'plain', text: `${title}: ${cutValue(field, answers.get(field.name))}` }, look)
  })
  return [
    `${look.paint('asking', '?')} ${look.paint('bold', 'Send this?')}`,
    ...answered,
    ...wrapped({ style: 'dim', text: 's sends it, d declines, c cancels, e goes through it again' }, look),
  ]
}

function cutValue(field: Field, value: Parameters<typeof shownValue>[1]): string {
  return oneLine(shownValue(field, value), 300)
}

interface Words {
  readonly first?: string
  readonly rest?: string
  readonly style: Style
  readonly text: string
}

function wrapped({ first = '    ', rest = first, style, text }: Words, { paint, width }: Look): readonly string[] {
  const span = { style, text: text.slice(0, style === 'plain' ? undefined : MAX_TEXT_LENGTH), at: 0 }
  const after = rest === first ? ' '.repeat(first.length) : rest
  const rows = wrapSpans([span], { width: width() - 1, first, rest: after, paint }).map((row) => row.text)
  return first === '? ' ? [`${paint('asking', '?')}${(rows[0] ?? '').slice(1)}`, ...rows.slice(1)] : rows
}
