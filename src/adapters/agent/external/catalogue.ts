/** Which external agents there are, how each is started, and what is known of it without starting it. */
import { fail } from '../../../errors/parley-error.ts'
import type { AgentLaunch, AgentOffers, LaunchPlace, OwnAgent } from './launch.ts'
import { type Quirks, SAFE } from './quirks.ts'

/** What the full name of an external agent begins with. */
const PREFIX = 'acp:'

const IDLE_MINUTES = 10

export interface CatalogueSources {
  /** The entries of the user's file and of the project's, read anew. */
  own(place: Partial<LaunchPlace>): readonly OwnAgent[]
  /** The environment of an agent: the allow-listed part, and the variables of these names; `*` at the end stands for more. */
  environment(names: readonly string[], place: LaunchPlace): Readonly<Record<string, string>>
}

/** All external agents of a server, by their full names: `acp:NAME`. */
export class AgentCatalogue {
  readonly #sources: CatalogueSources
  readonly #offers = new Map<string, AgentOffers>()

  constructor(sources: CatalogueSources) {
    this.#sources = sources
  }

  /** The full name for what a user typed; undefined where no agent fits. Waits for nothing. */
  fullName(requested: string, cwd?: string): string | undefined {
    const name = shortName(requested)
    const own = this.#sources.own(cwd === undefined ? {} : { cwd })
    return own.some((entry) => entry.name === name) ? `${PREFIX}${name}` : undefined
  }

  /** Throws AGENT_UNKNOWN and AGENT_NOT_ALLOWED. Never downloads anything. */
  async launch(fullName: string, place: LaunchPlace): Promise<AgentLaunch> {
    const name = shortName(fullName)
    const own = this.#sources.own(place).find((entry) => entry.name === name)
    if (own?.command === undefined) return fail('AGENT_UNKNOWN', { agent: name })
    if (own.refused !== undefined) return fail('AGENT_NOT_ALLOWED', { agent: name, reason: own.refused })
    const offers = this.offers(fullName)
    const quirks = { ...SAFE, ...own.quirks }
    return {
      name,
      program: own.command,
      args: own.args ?? [],
      env: { ...this.#sources.environment(own.passEnv, place), ...own.env },
      quirks,
      mcp: own.mcp ?? quirks.mcp,
      idleMinutes: own.idleMinutes ?? IDLE_MINUTES,
      warm: own.warm ?? false,
      ...(own.mode !== undefined && { mode: own.mode }),
      ...(own.options !== undefined && { options: own.options }),
      ...(offers !== undefined && { offers, version: offers.version }),
    }
  }

  /** The quirks of an agent that answered `initialize` with this. */
  quirks(fullName: string, _met: { readonly agentName: string; readonly version: string }): Quirks {
    const own = this.#sources.own({}).find((entry) => entry.name === shortName(fullName))
    return { ...SAFE, ...own?.quirks }
  }

  /** What it said of itself when it was last met; undefined if it never was. Waits for nothing. */
  offers(fullName: string): AgentOffers | undefined {
    return this.#offers.get(shortName(fullName))
  }

  /** Stores what an agent said of itself, for this version of it. */
  async remember(fullName: string, version: string, offers: AgentOffers): Promise<void> {
    this.#offers.set(shortName(fullName), { ...offers, version })
  }
}

function shortName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name
}
