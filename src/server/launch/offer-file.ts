/**
 * What the last server answered to `initialize`, kept in the state directory: `parley acp` answers its client with it at
 * once while a server like that one is being started, which takes several times as long. Before there was one it says what
 * the first one will.
 */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../config/settings.ts'
import { userFile } from '../../config/places.ts'
import { agentName } from '../../config/agent-choice.ts'
import { fieldsOf, isFields, type Fields } from '../../rpc/json-rpc.ts'
import { serverInfo } from '../server-info.ts'

const OFFER_FILE = 'offer.json'

/** More than the agents that the editors of one machine start. */
const MAX_OFFERS = 8

export class OfferFile {
  readonly #config: Config
  readonly #path: string
  /** Everything that the answer depends on. An answer that was stored under another key is not used. */
  readonly #key: string

  constructor(config: Config) {
    const { home, agent, environment, experimental, serverToken, docsKey } = config
    this.#config = config
    this.#path = join(home, OFFER_FILE)
    this.#key = JSON.stringify([
      serverInfo.version,
      agentName(agent),
      experimental,
      serverToken !== undefined,
      docsKey !== undefined,
      changedAt(userFile(environment)),
      // Of a version that is being worked on.
      changedAt(fileURLToPath(import.meta.url)),
    ])
  }

  async find(): Promise<Fields | undefined> {
    const result = this.#read()[this.#key]
    return isFields(result) ? result : this.#first()
  }

  /** Of a configuration that is new here, if it says all that the answer depends on. */
  async #first(): Promise<Fields | undefined> {
    const { environment, serverToken, docsKey } = this.#config
    const isMore = serverToken !== undefined || docsKey !== undefined || changedAt(userFile(environment)) !== undefined
    if (isMore) return undefined
    const { firstOffer } = await import('./first-offer.ts')
    return firstOffer(this.#config)
  }

  /** Never throws: without the file the next client waits for its server, as the first one did. */
  async remember(result: Fields): Promise<void> {
    const { [this.#key]: known, ...others } = this.#read()
    if (JSON.stringify(known) === JSON.stringify(result)) return
    const latest = Object.entries(others).slice(1 - MAX_OFFERS)
    try {
      const { replaceFile } = await import('../../state-files/atomic-file.ts')
      replaceFile(this.#path, JSON.stringify(Object.fromEntries([...latest, [this.#key, result]])))
    } catch {
      // The state directory is gone or full, which the server says where it matters.
    }
  }

  /** The answers by their keys, the latest last; none where the file is missing or damaged. */
  #read(): Fields {
    try {
      return fieldsOf(JSON.parse(readFileSync(this.#path, 'utf8')))
    } catch {
      return {}
    }
  }
}

function changedAt(path: string): number | undefined {
  try {
    return statSync(path).mtimeMs
  } catch {
    return undefined
  }
}
