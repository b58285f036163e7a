/** Reads parsed options: a text, or nothing. */
import type { CommandInput } from './command.ts'

export function textOption(options: CommandInput['options'], key: string): string | undefined {
  const value = options[key]
  return typeof value === 'string' ? value : undefined
}
