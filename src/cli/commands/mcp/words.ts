/** How the commands of `parley mcp` read pairs of a name and a value. */
import { fail } from '../../../errors/parley-error.ts'

/** `NAME=VALUE` or `NAME: VALUE`, each given once. Throws CONFIG_INVALID. */
export function pairsOf(option: string, given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(given.map((text) => pairOf(option, text)))
}

function pairOf(option: string, text: string): readonly [string, string] {
  const [, name, value] = /^([^:=\s]+)(?:=|:\s*)(.*)$/su.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  // The value stays out of the message: it is often a key.
  return fail('CONFIG_INVALID', { key: option, value: 'given', reason: 'it must be written as NAME=VALUE' })
}
