/** A form that is being filled in at a keyboard: which field is asked, what is typed, what was answered. Pure. */
import type { FieldValue } from '../../../form/validate-field.ts'
import { type Key, isCtrlC } from '../../output/terminal/keyboard.ts'
import { graphemesOf } from '../../output/terminal/text.ts'
import { readAnswer } from './answers.ts'
import type { Field } from '../../../form/fields.ts'

export interface Filling {
  readonly fields: readonly Field[]
  /** The field that is asked; behind the last one it is asked whether to send. */
  readonly at: number
  readonly typed: string
  /** The error of the last typed value. */
  readonly sentence: string
  readonly answers: ReadonlyMap<string, FieldValue | undefined>
}

export type Filled =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, FieldValue>> }
  | { readonly action: 'decline' | 'cancel' }

/** The line with which the user declines the form, at any field. */
export const DECLINE = '/decline'

export function begun(fields: readonly Field[]): Filling {
  return { fields, at: 0, typed: '', sentence: '', answers: new Map() }
}

/** Either the form as it is then, or how it ended. */
export function pressed(filling: Filling, key: Key): Filling | Filled {
  if (key.name === 'escape' || isCtrlC(key)) return { action: 'cancel' }
  const field = filling.fields[filling.at]
  if (field === undefined) return decided(filling, key)
  if (key.name === 'return' || key.name === 'enter') return entered(filling, field)
  return { ...filling, typed: edited(filling.typed, key) }
}

export function isFilled(next: Filling | Filled): next is Filled {
  return 'action' in next
}

/** The value that Enter takes: the earlier answer, else the default of the form. */
export function takenBy({ answers }: Filling, { name, preset }: Field): FieldValue | undefined {
  return answers.has(name) ? answers.get(name) : preset
}

/** Whether there is something that Enter would take, and the field may be empty. */
export function canBeEmptied(filling: Filling, field: Field): boolean {
  return !field.required && takenBy(filling, field) !== undefined
}

function entered(filling: Filling, field: Field): Filling | Filled {
  const { typed, answers, at } = filling
  if (typed.trim().toLowerCase() === DECLINE) return { action: 'decline' }
  const answer = readAnswer({ ...field, preset: takenBy(filling, field) }, typed)
  if ('sentence' in answer) return { ...filling, typed: '', sentence: answer.sentence }
  return {
    ...filling,
    at: at + 1,
    typed: '',
    sentence: '',
    answers: new Map([...answers, [field.name, answer.value]]),
  }
}

function decided(filling: Filling, { text }: Key): Filling | Filled {
  switch (text.toLowerCase()) {
    case 's':
      return { action: 'accept', content: filledValues(filling) }
    case 'd':
      return { action: 'decline' }
    case 'c':
      return { action: 'cancel' }
    case 'e':
      return { ...filling, at: 0 }
    default:
      return filling
  }
}

function filledValues({ answers }: Filling): Readonly<Record<string, FieldValue>> {
  const given = [...answers].flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return Object.fromEntries(given)
}

/** Letters that one line may have. */
const MAX_LENGTH = 10_000

function edited(typed: string, { text, name, ctrl }: Key): string {
  if (name === 'backspace') return graphemesOf(typed).slice(0, -1).join('')
  if (ctrl && name === 'u') return ''
  if (ctrl && name === 'w') return typed.replace(/\S+\s*$/u, '')
  return (typed + text.replace(/\s*\n\s*/gu, ' ')).slice(0, MAX_LENGTH)
}
