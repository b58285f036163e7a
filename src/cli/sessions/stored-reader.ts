/** What `show` and `export` read: the journal of this machine, or that of a remote server over a connection. */
import type { Client, SessionInfo } from '../../client/client.ts'
import type { UpdateParams } from '../../client/incoming/updates.ts'
import type { Config } from '../../config/settings.ts'
import { type Unfinished, openReader } from '../../server/offline/offline-sessions.ts'
import { exportedLines } from '../../server/offline/offline-export.ts'
import { noDisplay, workWith } from '../connect/with-client.ts'
import { OK } from '../runtime/exit-codes.ts'
import { watchStops } from '../runtime/shutdown-signals.ts'
import { findSession } from './session-resolution.ts'

/** Updates of one page; more make fewer round trips, and no answer too large. */
const PAGE_UPDATES = 500

export interface ReadableSession {
  readonly sessionId: string
  readonly cwd: string
  readonly updatedAt: string
  readonly title?: string | null
}

export interface StoredReader {
  /** The session of this id, or the only one whose id begins so. Throws SESSION_NOT_FOUND or SESSION_AMBIGUOUS. */
  find(prefix: string): Promise<ReadableSession>
  /** The updates that `session/load` would send to a client that asks for `parley/places`. Returns how far the last turn is, if it still runs. */
  updates(sessionId: string): AsyncGenerator<UpdateParams, Unfinished | undefined>
  /** As `parley import` reads it. */
  exported(prefix: string): AsyncGenerator<string>
}

type Reading = (reader: StoredReader, signal: AbortSignal) => Promise<void>

/** Resolves with the exit code. */
export async function readStored(config: Config, read: Reading): Promise<number> {
  if (config.server === undefined) return readHere(config, read)
  return workWith({ config, embedded: false, places: true }, noDisplay, async ({ client, stops }) => {
    await read(new RemoteReader(client), stops.signal)
    return OK
  })
}

/** The ids that begin like these. Throws as `find` does. */
export async function idsOf(config: Config, prefixes: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = []
  await readStored(config, async (reader) => {
    for (const prefix of prefixes) ids.push((await reader.find(prefix)).sessionId)
  })
  return ids
}

async function readHere(config: Config, read: Reading): Promise<number> {
  const { signal } = watchStops()
  const reader = await openReader(config)
  try {
    await read({ ...reader, exported: (prefix) => exportedLines(config, prefix) }, signal)
  } finally {
    await reader.close()
  }
  return signal.aborted ? (signal.reason as number) : OK
}

/** Attaches to nothing: the session stays as it is, and its agent is not started. */
class RemoteReader implements StoredReader {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  async find(prefix: string): Promise<ReadableSession> {
    const { updatedAt, ...session } = await findSession(this.#client, prefix)
    return { ...session, updatedAt: updatedAt ?? '' }
  }

  /** Pages come from the end backwards, and all are needed before the first one can be shown. */
  async *updates(sessionId: string): AsyncGenerator<UpdateParams, Unfinished | undefined> {
    const pages: (readonly UpdateParams[])[] = []
    for (let before: number | undefined, more = true; more;) {
      const page = await this.#client.page(sessionId, { limit: PAGE_UPDATES, ...(before !== undefined && { before }) })
      pages.push(page.updates)
      before = page.from
      more = page.more
    }
    yield* pages.toReversed().flat()
    return unfinishedIn(await findSession(this.#client, sessionId))
  }

  async *exported(prefix: string): AsyncGenerator<string> {
    const { sessionId } = await findSession(this.#client, prefix)
    yield* this.#client.exported(sessionId)
  }
}

function unfinishedIn(session: SessionInfo): Unfinished | undefined {
  const phase = session._meta?.['parley/phase']
  if (phase === 'working') return 'working'
  return phase === 'waiting' || phase === 'suspended' ? 'waiting' : undefined
}
