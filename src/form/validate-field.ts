/** Checks a value against a field of a form. The error never quotes the value, which may be private. */
import { choicesOf, isTexts } from './choices.ts'
import { matches } from './pattern.ts'

type Fields = Readonly<Record<string, unknown>>
export type FieldValue = string | number | boolean | readonly string[]

export type Fit = { readonly value: FieldValue } | { readonly misfit: string }

/** `misfit` is the end of a sentence that begins with the field. */
export function fitOf(property: Fields, value: unknown): Fit {
  switch (property['type']) {
    case 'string':
      return typeof value === 'string' ? fit(value, textMisfit(property, value)) : { misfit: 'is not a text' }
    case 'boolean':
      return typeof value === 'boolean' ? { value } : { misfit: 'is neither yes nor no' }
    case 'array':
      return isTexts(value) ? fit(value, listMisfit(property, value)) : { misfit: 'is not a list of texts' }
    default:
      return typeof value === 'number' ? fit(value, numberMisfit(property, value)) : { misfit: 'is not a number' }
  }
}

function fit(value: FieldValue, misfit: string | undefined): Fit {
  return misfit === undefined ? { value } : { misfit }
}

function textMisfit(property: Fields, value: string): string | undefined {
  const { minLength, maxLength, pattern, format } = property
  // Lengths are counted in code points and not in UTF-16 code units.
  const length = Array.from(value).length
  if (typeof minLength === 'number' && length < minLength) return `is shorter than ${minLength} characters`
  if (typeof maxLength === 'number' && length > maxLength) return `is longer than ${maxLength} characters`
  if (typeof pattern === 'string' && !matches(value, pattern)) return `is not of the form ${pattern}`
  if (typeof format === 'string' && textFormatOf(format)?.looks.test(value) === false)
    return `is not written as ${format}`
  const choices = choicesOf(property)
  return choices === undefined || choices.some((choice) => choice.value === value)
    ? undefined
    : 'is none of its options'
}

function numberMisfit({ type, minimum, maximum }: Fields, value: number): string | undefined {
  if (!Number.isFinite(value)) return 'is not a number'
  if (type === 'integer' && !Number.isInteger(value)) return 'is not a whole number'
  if (typeof minimum === 'number' && value < minimum) return `is less than ${minimum}`
  return typeof maximum === 'number' && value > maximum ? `is more than ${maximum}` : undefined
}

function listMisfit({ items, minItems, maxItems }: Fields, value: readonly string[]): string | undefined {
  const options = new Set((choicesOf(items) ?? []).map((choice) => choice.value))
  if (typeof minItems === 'number' && value.length < minItems) return `has fewer than ${minItems} choices`
  if (typeof maxItems === 'number' && value.length > maxItems) return `has more than ${maxItems} choices`
  return value.every((choice) => options.has(choice)) ? undefined : 'has a choice that is none of its options'
}

interface Format {
  readonly looks: RegExp
  readonly example: string
}

/** Undefined for an unknown format, which allows every text. */
export function textFormatOf(format: string): Format | undefined {
  return Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
}

/** None of them can take long, however long the text. */
const FORMATS: Readonly<Record<string, Format>> = {
  email: { looks: /^[^\s@]+@[^\s@]+$/u, example: 'ada@example.org' },
  uri: { looks: /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/u, example: 'https://example.org/' },
  date: { looks: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/u, example: '2026-01-31' },
  'date-time': {
    looks: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/u,
    example: '2026-01-31T09:30:00Z',
  },
}
