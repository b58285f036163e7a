/** Which external agents there are, how each is started, and what is known of it without starting it. */
import { fail } from '../../../errors/parley-error.ts'
import { type NameMatch, type NameSources, agentNamed, namesOf } from './find/agent-names.ts'
import { findProgram, idOf } from './find/find-program.ts'
import type { RegistryIndex } from './find/registry-index.ts'
import type { InstalledAgents } from './install/installed-agents.ts'
import { type ChosenQuirks, chooseQuirks } from './known/choose-quirks.ts'
import { type KnownAgent, knownAgent } from './known/start-table.ts'
import { compareVersions } from './known/version.ts'
import type { AgentLaunch, AgentOffers, LaunchPlace, OwnAgent } from './launch.ts'
import { commandKey, type StoredOffers } from './probe/stored-offers.ts'
import type { Quirks } from './quirks.ts'

/** What the full name of an external agent begins with. */
const PREFIX = 'acp:'

export interface CatalogueSources {
  /** The entries of the user's file and of the project's, read anew. */
  own(place: Partial<LaunchPlace>): readonly OwnAgent[]
  /** The environment of an agent: the allow-listed part, and the variables of these names; `*` at the end stands for more. */
  environment(names: readonly string[], place: LaunchPlace): Readonly<Record<string, string>>
  readonly registry: RegistryIndex
  readonly installed: InstalledAgents
  readonly offers: StoredOffers
}

/** An agent that answered `initialize`. */
interface Met {
  readonly agentName: string
  readonly version: string
}

/** All external agents of a server, by their full names: `acp:NAME`. */
export class AgentCatalogue {
  readonly #sources: CatalogueSources

  constructor(sources: CatalogueSources) {
    this.#sources = sources
  }

  /**
   * The full name for what a user typed: the name of an own entry, of an agent of the start table or the registry, an alias, or
   * the beginning of exactly one. Undefined where none or several fit. Waits for nothing.
   */
  fullName(requested: string, cwd?: string): string | undefined {
    const named = this.#named(requested, cwd)
    return 'name' in named ? `${PREFIX}${named.name}` : undefined
  }

  /** What a user could have meant, for the sentence of an error: those that begin so, else all. */
  candidates(requested: string, cwd?: string): readonly string[] {
    const named = this.#named(requested, cwd)
    if ('name' in named) return [named.name]
    return named.candidates.length > 0 ? named.candidates : namesOf(this.#names(cwd))
  }

  /** All that can be named, the user's own first. */
  names(cwd?: string): readonly string[] {
    return namesOf(this.#names(cwd))
  }

  /** A version of it that is later than this one: one that Parley was tried with, or one of the registry. */
  newer(fullName: string, version: string | undefined): string | undefined {
    const id = idOf(shortName(fullName))
    const listed = this.#sources.registry.known().find((entry) => idOf(entry.id) === id)
    const versions = [knownAgent(id)?.npm?.version, listed?.version].filter((one) => one !== undefined)
    const newest = versions.toSorted(compareVersions).at(-1)
    const isNewer = newest !== undefined && version !== undefined && compareVersions(newest, version) > 0
    return isNewer ? newest : undefined
  }

  /**
   * Throws AGENT_UNKNOWN, AGENT_NOT_ALLOWED, AGENT_NOT_INSTALLED and AGENT_NODE_OLD. Never downloads anything, and starts nothing
   * but perhaps `node --version`.
   */
  async launch(fullName: string, place: LaunchPlace): Promise<AgentLaunch> {
    const name = shortName(fullName)
    const own = this.#own(name, place)
    if (own === undefined && !this.names(place.cwd).includes(name)) {
      return fail('AGENT_UNKNOWN', { agent: name, candidates: this.candidates(name, place.cwd).join(', ') })
    }
    if (own?.refused !== undefined) return fail('AGENT_NOT_ALLOWED', { agent: name, reason: own.refused })
    const base = this.#environment(name, own, place)
    const found = await findProgram({ name, own, path: base['PATH'] }, this.#sources.installed)
    const offers = this.#sources.offers.get(name, commandKey(found.program, found.args))
    const version = found.version ?? offers?.version
    const { quirks } = this.#choose(name, own, { agentName: offers?.agentName, version })
    return {
      name,
      program: found.program,
      args: found.args,
      env: { ...base, ...found.env, ...own?.env },
      quirks,
      mcp: own?.mcp ?? quirks.mcp,
      idleMinutes: own?.idleMinutes ?? quirks.idleMinutes,
      ...(own?.maxMemoryMb !== undefined && { maxMemoryMb: own.maxMemoryMb }),
      ...(own?.stallMinutes !== undefined && { stallMinutes: own.stallMinutes }),
      ...(version !== undefined && { version }),
      ...(own?.mode !== undefined && { mode: own.mode }),
      ...(own?.options !== undefined && { options: own.options }),
      ...(offers !== undefined && { offers }),
    }
  }

  /** Whether the user wants it to be started with a stored session. Waits for nothing. */
  isWarm(fullName: string, place: LaunchPlace): boolean {
    return this.#own(shortName(fullName), place)?.warm === true
  }

  /** The quirks of an agent that answered `initialize` with this. */
  quirks(fullName: string, met: Met, cwd?: string): Quirks {
    return this.chosen(fullName, met, cwd).quirks
  }

  /** The same, with the row that they come from. */
  chosen(fullName: string, met: Partial<Optional<Met>>, cwd?: string): ChosenQuirks {
    const name = shortName(fullName)
    return this.#choose(name, this.#own(name, cwd === undefined ? {} : { cwd }), met)
  }

  /** What it said of itself when it was last met; undefined if it never was. Waits for nothing. */
  offers(fullName: string): AgentOffers | undefined {
    return this.#sources.offers.get(shortName(fullName))
  }

  /** Stores what an agent said of itself, for the command that it was started with. */
  async remember({ name, program, args }: AgentLaunch, offers: AgentOffers): Promise<void> {
    this.#sources.offers.put(name, commandKey(program, args), offers)
  }

  #choose(name: string, own: OwnAgent | undefined, { agentName, version }: Partial<Optional<Met>>): ChosenQuirks {
    const known = knownOf(name, own)
    const names = [agentName, known?.info, known?.id, idOf(own?.registry ?? name)]
    const chosen = chooseQuirks(
      names.filter((one) => one !== undefined),
      version,
    )
    return own === undefined ? chosen : { ...chosen, quirks: { ...chosen.quirks, ...own.quirks } }
  }

  /** Later ones count: the base list, what stops an update by itself, what the user's environment has. */
  #environment(name: string, own: OwnAgent | undefined, place: LaunchPlace): Readonly<Record<string, string>> {
    const known = knownOf(name, own)
    const names = [...(known?.vars ?? []), ...Object.keys(known?.sets ?? {}), ...(own?.passEnv ?? [])]
    return { ...known?.sets, ...this.#sources.environment(names, place) }
  }

  #own(name: string, place: Partial<LaunchPlace>): OwnAgent | undefined {
    return this.#sources.own(place).find((entry) => entry.name === name)
  }

  #named(requested: string, cwd: string | undefined): NameMatch {
    return agentNamed(shortName(requested), this.#names(cwd))
  }

  #names(cwd: string | undefined): NameSources {
    const own = this.#sources.own(cwd === undefined ? {} : { cwd }).map(({ name }) => name)
    // What was installed from a registry stays, also when that is not known any more.
    const copies = this.#sources.installed.list().flatMap(({ id }) => (id === 'node' ? [] : id))
    return { own, registry: [...this.#sources.registry.known().map(({ id }) => id), ...copies] }
  }
}

type Optional<Fields> = { readonly [Key in keyof Fields]: Fields[Key] | undefined }

/** An entry with a command of its own is not the agent of the start table, even if it is called so. */
function knownOf(name: string, own: OwnAgent | undefined): KnownAgent | undefined {
  return own?.command === undefined ? knownAgent(own?.registry ?? name) : undefined
}

function shortName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name
}
