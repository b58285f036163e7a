/**
 * The credentials of a cluster: one value in its database, which every node keeps in memory. A node asks every half second whether it
 * has changed, and at once when a client shows a credential that it does not know. While the database is away, what is known goes on.
 */
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { SharedValue, type SharedValueOptions } from '../../adapters/journal/postgres/shared-value.ts'
import { SerialQueue } from '../../async/serial.ts'
import { waitAtMost } from '../../async/with-timeout.ts'
import type { TokenHolder } from '../../credentials/access-tokens.ts'
import { type DocumentContents, MemoryDocuments } from '../../credentials/credential-documents.ts'
import type { CredentialStore } from '../../credentials/credential-store.ts'
import { Credentials } from '../../credentials/key-ring.ts'
import { fail } from '../../errors/parley-error.ts'
import type { Clock, Timer } from '../../ports/clock.ts'

const POLL_MS = 500
/** Between two questions: a flood of wrong credentials causes no more. */
const PAUSE_MS = 200
/** A client is not kept waiting longer for what its credential is. */
const PATIENCE_MS = 3_000
/** The uses of a second are noted together. */
const USES_MS = 1_000
/** How often a change is made anew because another node was faster. */
const ATTEMPTS = 20
/** So many that were removed are remembered: a node that comes back with them in its files does not bring them back. */
const MOST_REMOVED = 1_000
const FILES = ['access-tokens.json', 'devices.json', 'share-links.json']

export type SharedCredentialsOptions = Omit<SharedValueOptions, 'name'>

export class SharedCredentials implements CredentialStore {
  readonly #value: SharedValue
  readonly #clock: Clock
  readonly #changes = new SerialQueue()
  #version = ''
  #contents: DocumentContents = {}
  #known: Credentials
  /** The last question, and when it was asked. */
  #asked: Promise<void> = Promise.resolve()
  #askedAt = -Infinity
  /** A question that is about to be asked. */
  #next: Promise<void> | undefined
  #uses: readonly TokenHolder[] = []
  #timer: Timer | undefined
  #isClosed = false

  private constructor(options: SharedCredentialsOptions) {
    this.#value = new SharedValue({ ...options, name: 'credentials' })
    this.#clock = options.clock
    this.#known = new Credentials(new MemoryDocuments({}), this.#clock)
  }

  /** Throws CLUSTER_UNREACHABLE and its kin. */
  static async open(options: SharedCredentialsOptions): Promise<SharedCredentials> {
    const opened = new SharedCredentials(options)
    try {
      await opened.#ask()
    } catch (error) {
      await opened.close()
      throw error
    }
    return opened
  }

  get known(): Credentials {
    return this.#known
  }

  /** From now on it learns what others change. */
  follow(): void {
    if (this.#isClosed) return
    this.#timer = this.#clock.setTimer(POLL_MS, () => {
      // The heartbeat reports a database that does not answer.
      void this.#soon().then(
        () => this.follow(),
        () => this.follow(),
      )
    })
  }

  readonly refresh = async (): Promise<void> => {
    const isAnswered = this.#soon().then(() => true)
    if ((await waitAtMost(isAnswered, { clock: this.#clock, ms: PATIENCE_MS })) === true) return
    fail('CLUSTER_UNREACHABLE', { address: this.#value.shown, reason: 'it does not answer' })
  }

  change<Result>(change: (credentials: Credentials) => Result): Promise<Result> {
    return this.#changes.run(() => this.#change(change))
  }

  used(holder: TokenHolder): void {
    const noted = new MemoryDocuments(this.#contents)
    new Credentials(noted, this.#clock).used(holder)
    if (noted.contents === this.#contents) return
    this.#uses = [...this.#uses, holder]
    if (this.#uses.length === 1) this.#clock.setTimer(USES_MS, () => void this.#noteUses().catch(() => undefined))
  }

  /** Takes what the files of a state directory have, and puts them aside. Returns how many. Throws TOKENS_UNUSABLE. */
  async adoptFiles(home: string): Promise<number> {
    const adopted = await this.adopt(new Credentials(home, this.#clock))
    for (const name of adopted === 0 ? [] : FILES) putAside(join(home, name))
    return adopted
  }

  /** Takes what others have, but what was removed here. Returns how many. */
  async adopt(others: Credentials): Promise<number> {
    if (others.hashes().length === 0) return 0
    return this.change((credentials) => credentials.adopt(others, new Set(removedIn(this.#contents))))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#value.close()
  }

  async #noteUses(): Promise<void> {
    const uses = this.#uses
    this.#uses = []
    await this.change((credentials) => {
      for (const holder of uses) credentials.used(holder)
    })
  }

  /** It is tried on what is known. Where that changes nothing or refuses, it is tried once more on what is stored now. */
  async #change<Result>(change: (credentials: Credentials) => Result): Promise<Result> {
    let isFresh = false
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const before = this.#contents
      const documents = new MemoryDocuments(before)
      const outcome = outcomeOf(() => change(new Credentials(documents, this.#clock)))
      if (documents.contents !== before) {
        if (await this.#replace(withRemoved(before, documents.contents, this.#clock))) return outcome()
        await this.#ask()
      } else {
        if (isFresh) return outcome()
        await this.refresh()
      }
      isFresh = true
    }
    return fail('CLUSTER_UNREACHABLE', { address: this.#value.shown, reason: 'other nodes change it all the time' })
  }

  async #replace(contents: DocumentContents): Promise<boolean> {
    const next = { version: this.#clock.id(), text: JSON.stringify(contents) }
    const isOurs = await this.#value.replace(this.#version, next)
    if (isOurs) this.#learn(next.version, contents)
    return isOurs
  }

  /** Callers before the next question share it. One that is under way was asked too early for them. */
  #soon(): Promise<void> {
    this.#next ??= this.#askInTurn()
    return this.#next
  }

  async #askInTurn(): Promise<void> {
    await this.#asked.catch(() => undefined)
    const early = this.#askedAt + PAUSE_MS - this.#clock.monotonicNow()
    if (early > 0) await this.#clock.sleep(early)
    this.#next = undefined
    await this.#ask()
  }

  #ask(): Promise<void> {
    this.#askedAt = this.#clock.monotonicNow()
    this.#asked = this.#load()
    return this.#asked
  }

  async #load(): Promise<void> {
    const newer = await this.#value.newer(this.#version)
    if (newer !== undefined) this.#learn(newer.version, contentsIn(newer.text, this.#value.shown))
  }

  #learn(version: string, contents: DocumentContents): void {
    this.#version = version
    this.#contents = contents
    this.#known = new Credentials(new MemoryDocuments(contents), this.#clock)
  }
}

/** What is thrown may come after a change that counts, as that of a wrong code. */
function outcomeOf<Result>(act: () => Result): () => Result {
  try {
    const result = act()
    return () => result
  } catch (error) {
    return () => {
      throw error
    }
  }
}

function removedIn({ removed }: DocumentContents): readonly string[] {
  return Array.isArray(removed) ? (removed as readonly string[]) : []
}

function withRemoved(before: DocumentContents, after: DocumentContents, clock: Clock): DocumentContents {
  const hashesIn = (contents: DocumentContents) => new Credentials(new MemoryDocuments(contents), clock).hashes()
  const left = new Set(hashesIn(after))
  const gone = hashesIn(before).filter((one) => !left.has(one))
  return gone.length === 0 ? after : { ...after, removed: [...removedIn(before), ...gone].slice(-MOST_REMOVED) }
}

/** Throws TOKENS_UNUSABLE. */
function contentsIn(text: string, shown: string): DocumentContents {
  try {
    return text === '' ? {} : (JSON.parse(text) as DocumentContents)
  } catch (error) {
    return fail('TOKENS_UNUSABLE', { path: shown, reason: 'they are not JSON' }, error)
  }
}

/** A file that cannot be moved stays; at the next start nothing in it is new. */
function putAside(path: string): void {
  try {
    renameSync(path, `${path}.adopted`)
  } catch {
    // It does not exist, or the directory can only be read.
  }
}
