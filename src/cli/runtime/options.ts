/** Options that several commands have, and how the values of options are read. */
import type { CommandInput, OptionRow } from './command.ts'

export const json: OptionRow = { flags: '--json', summary: 'one line of JSON per item, for programs' }
export const jsonObject: OptionRow = { flags: '--json', summary: 'one object, for programs' }

export function textOption(options: CommandInput['options'], key: string): string | undefined {
  const value = options[key]
  return typeof value === 'string' ? value : undefined
}

/** All texts of an option that may be given again and again. */
export function textsOption(options: CommandInput['options'], key: string): readonly string[] {
  const value = options[key]
  return Array.isArray(value) ? value.map(String) : []
}
