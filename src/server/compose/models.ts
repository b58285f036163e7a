/**
 * The models of a configuration: those of the well-known providers and of the user's own, and those for the API keys that
 * clients send, in memory alone and shared by clients that send the same keys.
 */
import { acceptedByOwn } from '../../adapters/agent/own-agents.ts'
import { systemClock } from '../../adapters/clock.ts'
import { type OwnedModels, openModels } from '../../adapters/model/providers/models.ts'
import { LruMap } from '../../async/lru.ts'
import { agentName } from '../../config/agent-choice.ts'
import { type ProviderRead, readModels } from '../../config/models/configured-providers.ts'
import type { Config } from '../../config/settings.ts'
import type { ClientVariables, PromptKinds } from '../../ports/agent.ts'
import type { Models } from '../../ports/model.ts'

export interface Which {
  readonly only?: string | undefined
  /** Environment variables that a client provides. */
  readonly lent?: ClientVariables
}

/** No provider is asked and no package loaded before the first use. */
export function modelsOf(
  { environment, model, discoverLocalModels }: Config,
  tables: readonly ProviderRead[],
  { only, lent }: Which = {},
): OwnedModels {
  const { providers } = readModels(tables, environment, lent)
  // Without a key and not written down: a usual port of this machine.
  const allowed = providers.filter(
    ({ keyNames, isConfigured }) => discoverLocalModels || isConfigured || keyNames.length > 0,
  )
  const wanted = only === undefined ? allowed : allowed.filter(({ name }) => name === only)
  return openModels({ providers: wanted, preset: model, clock: systemClock })
}

/**
 * What the default agent accepts besides text as long as no provider was asked for its models, where the user's file names no
 * provider. Undefined for a script or an external agent.
 */
export async function acceptedAtStart(config: Config): Promise<PromptKinds | undefined> {
  const models = modelsOf(config, [])
  try {
    return acceptedByOwn(agentName(config.agent), models)
  } finally {
    await models.close()
  }
}

interface Closable extends Models {
  close(): Promise<void>
}

/** Sets of keys whose models stay open; a set that was dropped is opened again when a session asks with it. */
const MAX_OPEN = 16

export class ClientModels {
  readonly #open: (lent: ClientVariables) => Closable
  readonly #environment: Readonly<Record<string, string | undefined>>
  readonly #models = new LruMap<string, Closable>(MAX_OPEN)

  constructor(open: (lent: ClientVariables) => Closable, environment: Readonly<Record<string, string | undefined>>) {
    this.#open = open
    this.#environment = environment
  }

  /** Undefined where the server has all of it itself. */
  with(lent: ClientVariables): Models | undefined {
    const all = Object.entries(lent).toSorted(([one], [other]) => (one < other ? -1 : 1))
    if (all.every(([name, value]) => this.#environment[name] === value)) return undefined
    const key = JSON.stringify(all)
    return this.#models.getOrMake(key, () => this.#open(lent))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#models.values()].map((one) => one.close()))
    this.#models.clear()
  }
}
