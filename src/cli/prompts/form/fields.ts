/** A field of a form at a terminal: the kind of value that it asks for, and how an answer is shown. */
import type { Field } from '../../../form/fields.ts'
import { type FieldValue, textFormatOf } from '../../../form/validate-field.ts'

type Fields = Readonly<Record<string, unknown>>

/** The form's requirements for an answer; empty when there are none. */
export function hintOf({ kind, property }: Field): string {
  switch (kind) {
    case 'yes or no':
      return 'y or n'
    case 'one':
      return 'a number of these'
    case 'several':
      return ['numbers of these, separated by commas', range(property['minItems'], property['maxItems'], '')]
        .filter((part) => part !== '')
        .join(', ')
    case 'number':
      return [property['type'] === 'integer' ? 'a whole number' : 'a number', limits(property)]
        .filter((part) => part !== '')
        .join(' ')
    case 'text':
      return textHint(property)
  }
}

function limits({ minimum, maximum }: Fields): string {
  if (typeof minimum === 'number' && typeof maximum === 'number') return `from ${minimum} to ${maximum}`
  if (typeof minimum === 'number') return `from ${minimum}`
  return typeof maximum === 'number' ? `up to ${maximum}` : ''
}

function textHint({ minLength, maxLength, pattern, format }: Fields): string {
  const known = typeof format === 'string' ? textFormatOf(format) : undefined
  return [
    known === undefined ? '' : `such as ${known.example}`,
    range(minLength, maxLength, ' characters'),
    typeof pattern === 'string' ? `of the form ${pattern}` : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function range(least: unknown, most: unknown, what: string): string {
  const from = typeof least === 'number' && least > 0 ? least : undefined
  if (from !== undefined && typeof most === 'number') return `${from} to ${most}${what}`
  if (from !== undefined) return `at least ${from}${what}`
  return typeof most === 'number' ? `at most ${most}${what}` : ''
}

/** A value as users read it: titles for options, yes and no. */
export function shownValue({ choices }: Field, value: FieldValue | undefined): string {
  if (value === undefined) return '(empty)'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const titleOf = (one: string) => choices.find((choice) => choice.value === one)?.title ?? one
  if (typeof value === 'string') return titleOf(value)
  if (typeof value === 'number') return String(value)
  return value.length === 0 ? '(none)' : value.map(titleOf).join(', ')
}
