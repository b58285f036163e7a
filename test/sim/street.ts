/** A house with a street before it: any number of plain ACP clients at its door. */
import { localUser } from '../../src/edge/method-access.ts'
import { afterEach } from 'vitest'
import type { ServerContext } from '../../src/edge/acp/version.ts'
import type { Fields } from '../e2e/message.ts'
import { House } from './house.ts'
import { text } from './words.ts'
import { WireClient } from './wire-client.ts'

/** A directory that is there on every machine. */
export const cwd = '/'

/** What a server may be set to. */
type Settings = Partial<
  Pick<
    ServerContext,
    'token' | 'experimental' | 'sessions' | 'methods' | 'principal' | 'seen' | 'mcpServersOf' | 'initialized'
  >
>

export class Street {
  readonly house: House
  readonly #settings: Settings
  readonly #clients: WireClient[] = []

  constructor(house = new House(), settings: Settings = {}) {
    this.house = house
    this.#settings = settings
  }

  /** A client past its first exchange. */
  async client(initialize: Fields = {}, settings: Settings = {}): Promise<WireClient> {
    const { clock, sessions, agents, reported } = this.house
    const client = new WireClient({
      sessions: Promise.resolve(sessions),
      principal: localUser('stdio'),
      info: { name: 'parley', title: 'Parley', version: '0' },
      agents,
      clock,
      report: (error) => reported.push(error),
      untilReplyTimeout: () => Promise.resolve(),
      ...this.#settings,
      ...settings,
    })
    this.#clients.push(client)
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {}, ...initialize })
    return client
  }

  async close(): Promise<void> {
    for (const client of this.#clients.splice(0)) await client.leave()
  }
}

const streets: Street[] = []

/** Call once in a test file that opens streets. */
export function cleanUp(): void {
  afterEach(async () => {
    for (const street of streets.splice(0)) await street.close()
  })
}

export function openStreet(house?: House, settings?: Settings): Street {
  const street = new Street(house, settings)
  streets.push(street)
  return street
}

export async function create(client: WireClient, more: Fields = {}): Promise<string> {
  const { result } = await client.request('session/new', { cwd, mcpServers: [], ...more })
  return String(result?.['sessionId'])
}

export function opening(sessionId: string, more: Fields = {}): Fields {
  return { sessionId, cwd, mcpServers: [], ...more }
}

export function prompt(sessionId: string, words: string, promptId?: string): Fields {
  const meta = promptId === undefined ? {} : { _meta: { 'parley/promptId': promptId } }
  return { sessionId, prompt: [text(words)], ...meta }
}
