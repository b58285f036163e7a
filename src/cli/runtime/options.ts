/** Reads parsed options: a text, several, or nothing. */
import type { CommandInput } from './command.ts'

export function textOption(options: CommandInput['options'], key: string): string | undefined {
  const value = options[key]
  return typeof value === 'string' ? value : undefined
}

/** All texts of an option that may be given again and again. */
export function textsOption(options: CommandInput['options'], key: string): readonly string[] {
  const value = options[key]
  return Array.isArray(value) ? value.map(String) : []
}
