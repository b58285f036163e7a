/** Reads what the user typed for one field: a value, or a sentence about what is wrong. Pure. */
import type { FormChoice } from '../../../form/choices.ts'
import { type FieldValue, fitOf } from '../../../form/validate-field.ts'
import type { Field } from '../../../form/fields.ts'

/** Without a value the field is left empty. */
export type FieldAnswer = { readonly value: FieldValue | undefined } | { readonly sentence: string }

/** Leaves a field empty that has a default. */
export const EMPTY_ANSWER = '-'

export function readAnswer(field: Field, typed: string): FieldAnswer {
  const text = typed.trim()
  const taken = field.preset
  if (text === '' && taken !== undefined) return { value: taken }
  if (text === '' || (text === EMPTY_ANSWER && taken !== undefined && !field.required)) return left(field)
  const read = READERS[field.kind](field, text)
  return 'value' in read && read.value !== undefined ? checked(field, read.value) : read
}

/** A list of none is an answer where the form does not want more. */
function left(field: Field): FieldAnswer {
  if (!field.required) return { value: undefined }
  return field.kind === 'several' && 'value' in fitOf(field.property, [])
    ? { value: [] }
    : { sentence: 'This one needs an answer.' }
}

function checked({ property }: Field, value: FieldValue): FieldAnswer {
  const fit = fitOf(property, value)
  return 'value' in fit ? fit : { sentence: `That ${fit.misfit}.` }
}

type ReadAnswer = (field: Field, text: string) => FieldAnswer

const READERS: Readonly<Record<Field['kind'], ReadAnswer>> = {
  text: (_field, text) => ({ value: text }),
  number: readNumber,
  'yes or no': readYesOrNo,
  one: readOne,
  several: readSeveral,
}

function readNumber(_field: Field, text: string): FieldAnswer {
  // Not what else JavaScript takes for a number, such as 0x10.
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu.test(text)
  return isNumber ? { value: Number(text) } : { sentence: 'That is not a number.' }
}

function readYesOrNo(_field: Field, text: string): FieldAnswer {
  if (/^(?:y|yes|true)$/iu.test(text)) return { value: true }
  return /^(?:n|no|false)$/iu.test(text) ? { value: false } : { sentence: 'Answer y or n.' }
}

function readOne({ choices }: Field, text: string): FieldAnswer {
  const choice = chosen(choices, text)
  return choice === undefined ? { sentence: noSuch(text, choices) } : { value: choice.value }
}

function readSeveral({ choices }: Field, text: string): FieldAnswer {
  const byNumber = /^[\d\s,，、]+$/u.test(text)
  const parts = text.split(byNumber ? /[\s,，、]+/u : /[,，、]/u).filter((part) => part.trim() !== '')
  const stranger = parts.find((part) => chosen(choices, part) === undefined)
  if (stranger !== undefined) return { sentence: noSuch(stranger.trim(), choices) }
  return { value: [...new Set(parts.flatMap((part) => chosen(choices, part)?.value ?? []))] }
}

/** Finds a choice by its number or its text. */
function chosen(choices: readonly FormChoice[], typed: string): FormChoice | undefined {
  const text = typed.trim().toLowerCase()
  if (/^\d+$/u.test(text)) return choices[Number(text) - 1]
  return choices.find(({ title, value }) => title.toLowerCase() === text || value.toLowerCase() === text)
}

function noSuch(text: string, { length }: readonly FormChoice[]): string {
  return `There is no “${text}” here: type a number from 1 to ${length}.`
}
