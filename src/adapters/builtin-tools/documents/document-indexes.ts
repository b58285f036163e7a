/** The document indexes of all sessions: one for each set of directories, in worker threads that start with the first question. */
import type { PathAccess } from '../../../path-rules/path-rules.ts'
import { type Collection, collectionsOf } from '../../../docs-search/index/collections.ts'
import { IndexClient } from '../../../docs-search/index/worker/index-client.ts'
import type { DocumentIndex, IndexLimits, Scoped } from '../../../docs-search/index/worker/protocol.ts'

export interface DocumentIndexesOptions {
  /** The bundle of `docs-search/index/worker/worker.ts`. */
  readonly workerUrl: URL
  /** The current permission rules on paths for the document tools of a session with these directories. */
  readonly access: (roots: readonly string[]) => Promise<PathAccess>
  readonly log: (line: string) => void
}

/** The documents below a session's directories. */
export interface SessionDocuments {
  readonly index: DocumentIndex
  readonly collections: readonly Collection[]
  /** Part of every request: which collections are searched, and what rules leave out. */
  readonly scope: Scoped
}

interface SharedIndex {
  readonly client: IndexClient
  readonly collections: readonly Collection[]
  /** The sessions that asked it and are still open. */
  readonly users: Set<object>
}

const LIMITS: IndexLimits = { files: 20_000, bytes: 200_000_000 }

/** Test data answers no question about a project. A line `!test/` in a project's `.ignore` file includes it again. */
const TEST_DATA = [
  'test/',
  'tests/',
  '__tests__/',
  'fixtures/',
  '__fixtures__/',
  'testdata/',
  'test-data/',
  '__snapshots__/',
]

export class DocumentIndexes {
  readonly #options: DocumentIndexesOptions
  readonly #shared = new Map<string, SharedIndex>()

  constructor(options: DocumentIndexesOptions) {
    this.#options = options
  }

  /** Starts the index if no session uses it yet. It runs until `release` was called for every user that opened it. */
  async open(roots: readonly string[], user: object): Promise<SessionDocuments> {
    const name = JSON.stringify(roots)
    const shared = this.#shared.get(name) ?? this.#start(roots)
    this.#shared.set(name, shared)
    shared.users.add(user)
    const { client, collections } = shared
    const access = await this.#options.access(roots)
    return { index: client, collections, scope: { collections: collections.map((one) => one.name), access } }
  }

  #start(roots: readonly string[]): SharedIndex {
    const { workerUrl, log } = this.#options
    const collections = collectionsOf(roots)
    const settings = { collections, limits: LIMITS, poll: false, code: false, skipped: TEST_DATA }
    // Sessions ask again for every answer, so that nothing has to be done when documents change.
    const events = { log, present: () => undefined, changed: () => undefined }
    return { client: new IndexClient(workerUrl, settings, events), collections, users: new Set() }
  }

  /** The session of this user is closed. Its indexes end unless other sessions use them. Idempotent. */
  async release(user: object): Promise<void> {
    const unused = [...this.#shared].filter(([, { users }]) => users.delete(user) && users.size === 0)
    for (const [name] of unused) this.#shared.delete(name)
    await Promise.all(unused.map(([, { client }]) => client[Symbol.asyncDispose]()))
  }

  async close(): Promise<void> {
    const all = [...this.#shared.values()]
    this.#shared.clear()
    await Promise.all(all.map(({ client }) => client[Symbol.asyncDispose]()))
  }
}
