/** Fills `${NAME}` and `${NAME:-otherwise}` in from the environment. */
import type { LoginSettings } from '../../ports/values/mcp-server-settings.ts'
import type { McpPlace } from '../mcp/mcp-servers.ts'

type Environment = Readonly<Record<string, string | undefined>>

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/gu

/** The names of the variables that stand anywhere in it. */
export function variablesIn(what: unknown): readonly string[] {
  if (typeof what === 'string') return [...what.matchAll(VARIABLE)].map(([, name = '']) => name)
  if (typeof what !== 'object' || what === null) return []
  return [...new Set(Object.values(what).flatMap(variablesIn))]
}

/** The same for what a login needs. */
export function filledInLogin(
  login: LoginSettings,
  environment: Environment,
): { readonly login: LoginSettings } | { readonly missing: readonly string[] } {
  const missing = new Set<string>()
  const filled = Object.entries(login).map(([name, value]) => [name, fillWith(environment, missing)(String(value))])
  return missing.size > 0 ? { missing: [...missing] } : { login: Object.fromEntries(filled) as LoginSettings }
}

/** The place with its secrets, or the names of the variables that are not set. */
export function filledIn(
  place: McpPlace,
  environment: Environment,
): { readonly place: McpPlace } | { readonly missing: readonly string[] } {
  const missing = new Set<string>()
  const filled = fillPlace(place, fillWith(environment, missing))
  return missing.size > 0 ? { missing: [...missing] } : { place: filled }
}

/** The same for a list and a table of texts. */
export function filledInTexts(
  { args, env }: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> },
  environment: Environment,
):
  | { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly missing: readonly string[] } {
  const missing = new Set<string>()
  const fill = fillWith(environment, missing)
  const filled = { args: args.map(fill), env: each(env, fill) }
  return missing.size > 0 ? { missing: [...missing] } : filled
}

function fillWith(environment: Environment, missing: Set<string>): (text: string) => string {
  return (text) =>
    text.replace(VARIABLE, (_whole, name: string, otherwise: string | undefined) => {
      const value = environment[name] ?? otherwise
      if (value === undefined) missing.add(name)
      return value ?? ''
    })
}

function fillPlace(place: McpPlace, fill: (text: string) => string): McpPlace {
  // The user trusted exactly this command, so no variable is replaced in it.
  if (place.type === 'stdio') return { ...place, args: place.args.map(fill), env: each(place.env, fill) }
  return { ...place, url: fill(place.url), headers: each(place.headers, fill) }
}

function each(table: Readonly<Record<string, string>>, fill: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, fill(value)]))
}
