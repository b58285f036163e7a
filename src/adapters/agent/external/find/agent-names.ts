/** What a user means by the name of an agent. */
import { knownAgent, startTable } from '../known/start-table.ts'

export interface NameSources {
  /** The names of the user's own entries, which nothing overrides. */
  readonly own: readonly string[]
  /** The ids of the ACP registry, as far as a copy of it is here. */
  readonly registry: readonly string[]
}

export type NameMatch =
  | { readonly name: string }
  /** Empty: no agent is called so. More than one: several are. */
  | { readonly candidates: readonly string[] }

/**
 * An own entry, an agent of the start table or its alias, an id of the registry, NAME-acp, or the beginning of exactly one of
 * them.
 */
export function agentNamed(requested: string, { own, registry }: NameSources): NameMatch {
  if (own.includes(requested)) return { name: requested }
  const known = knownAgent(requested) ?? knownAgent(`${requested}-acp`)
  if (known !== undefined) return { name: known.id }
  const there = [requested, `${requested}-acp`].find((id) => registry.includes(id))
  if (there !== undefined) return { name: there }
  const beginning = requested === '' ? [] : namesOf({ own, registry }).filter((name) => name.startsWith(requested))
  const [only, ...others] = beginning
  return only !== undefined && others.length === 0 ? { name: only } : { candidates: beginning }
}

/** Every agent once, by the name that people type. */
export function namesOf({ own, registry }: NameSources): readonly string[] {
  const ids = registry.map((id) => knownAgent(id)?.id ?? id)
  return [...new Set([...own, ...startTable.map(({ id }) => id), ...ids])]
}
