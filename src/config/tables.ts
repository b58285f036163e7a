/** Checks a table of a settings file against its zod schema, and says what is wrong in the words of CONFIG_INVALID. */
import { z } from 'zod'
import { perhapsMeant } from './nearest.ts'

/** A mistake, as CONFIG_INVALID takes it. The value is left out where it may be a secret. */
export interface SettingMistake {
  readonly key: string
  readonly value?: string
  readonly reason: string
}

export type Table = Readonly<Record<string, unknown>>

/** A table that has no other keys than these. `reason` is for a value that is not a table. */
export function tableWith<const Shape extends z.ZodRawShape>(shape: Shape, reason: string) {
  const known = Object.keys(shape)
  const exact = z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `there is only ${known.join(', ')}${perhapsMeant(String(issue.keys?.[0]), known)}`
        : reason,
  })
  return z.custom<Table>(isTable, { error: reason, abort: true }).pipe(exact)
}

export const text = z.string('it must be a text').min(1, 'it must be a text')

export const switchValue = z.boolean('it must be true or false')

export function number(words: string, fits: (value: number) => boolean) {
  const reason = `it must be ${words}`
  return z.number(reason).refine(fits, reason)
}

export function oneOf<const Words extends readonly string[]>(words: Words) {
  return z.enum(words, `it must be ${words.join(', ')}`)
}

/** The names and texts of an `env` or `headers` table. A fault names the whole table: a part of it may be a secret. */
export function textTable(words: string, names: RegExp, texts: RegExp) {
  const fits = (value: unknown): boolean =>
    isTable(value) &&
    Object.entries(value).every(([name, one]) => names.test(name) && typeof one === 'string' && texts.test(one))
  return z.custom<Readonly<Record<string, string>>>(fits, `it must be ${words}`)
}

/** The first fault of a table that stands at the key `at`; undefined when there is none. */
export function faultOf(at: string, value: unknown, schema: z.ZodType): SettingMistake | undefined {
  const issue = schema.safeParse(value).error?.issues[0]
  if (issue === undefined) return undefined
  const key = issue.path.reduce<string>((path, part) => `${path}.${String(part)}`, at)
  const { message: reason } = issue
  return issue.code === 'unrecognized_keys'
    ? { key: `${key}.${issue.keys[0] ?? ''}`, value: 'set', reason }
    : { key, reason }
}

/** A date of TOML is an object too. */
export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
