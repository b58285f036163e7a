/** Fills `${NAME}` and `${NAME:-otherwise}` in from the environment. */
import type { McpPlace } from './mcp.ts'

type Environment = Readonly<Record<string, string | undefined>>

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/gu

/** The place with its secrets, or the variables that it needs and nobody has set. */
export function filledIn(
  place: McpPlace,
  environment: Environment,
): { readonly place: McpPlace } | { readonly missing: readonly string[] } {
  const missing = new Set<string>()
  const fill = (text: string): string =>
    text.replace(VARIABLE, (_whole, name: string, otherwise: string | undefined) => {
      const value = environment[name] ?? otherwise
      if (value === undefined) missing.add(name)
      return value ?? ''
    })
  const filled = fillPlace(place, fill)
  return missing.size > 0 ? { missing: [...missing] } : { place: filled }
}

function fillPlace(place: McpPlace, fill: (text: string) => string): McpPlace {
  const each = (table: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(table).map(([name, value]) => [name, fill(value)]))
  // The command itself is what somebody agreed to: nothing is filled in there.
  if (place.type === 'stdio') return { ...place, args: place.args.map(fill), env: each(place.env) }
  return { ...place, url: fill(place.url), headers: each(place.headers) }
}
