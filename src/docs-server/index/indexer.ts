/** Keeps the index true to the directories: one look through them at the start, another whenever something changed. */
import { basename, resolve } from 'node:path'
import { reasonOf } from '../../errors/parley-error.ts'
import type { Database, NewDocument } from './database.ts'
import { load } from './load.ts'
import { passagesOf, titleOf } from './passages.ts'
import type { IndexOptions } from './protocol.ts'
import { type Budget, type FoundFile, identityOf, walk } from './walk.ts'
import { type Watch, watch } from './watch.ts'

/** A served directory and what is known of it. */
export interface Directory {
  /** As the user named it. */
  readonly path: string
  /** Its name in uris: unique, and short. */
  readonly label: string
}

export interface IndexerEvents {
  readonly log: (line: string) => void
  readonly directories: (present: readonly boolean[]) => void
}

interface Known {
  readonly stamp: string
  readonly path: string
  readonly bytes: number
}

/** How often it is checked that the directories are still there, and looked through where nothing tells of changes. */
const TICK_MS = 2_000
/** Watching can miss things (network file systems, a full queue), so from time to time everything is looked at. */
const TICKS_PER_FULL_LOOK = 15
const SETTLE_MS = 150
const LONGEST_SETTLE_MS = 1_500
const DOCUMENTS_PER_CHANGE = 32

export class Indexer implements AsyncDisposable {
  readonly directories: readonly Directory[]
  /** Settles when everything was looked at once. */
  readonly first: Promise<void>
  readonly #database: Database
  readonly #options: IndexOptions
  readonly #events: IndexerEvents
  /** What is in the index or was skipped, by uri. */
  readonly #known = new Map<string, Known>()
  readonly #identities: (string | null)[]
  readonly #watches: (Watch | null)[]
  /** The directories in each as the last look found them, and as they were when watching began. */
  readonly #inside: ReadonlySet<string>[]
  #watched: readonly ReadonlySet<string>[] = []
  #generation = 0
  #truncated = false
  #lookTimer: NodeJS.Timeout | undefined
  readonly #ticker: NodeJS.Timeout
  #ticks = 0
  #looking: Promise<void> = Promise.resolve()
  #settling: Promise<void> = Promise.resolve()
  #lastLookMs = 0
  #closed = false

  constructor(database: Database, options: IndexOptions, events: IndexerEvents) {
    this.#database = database
    this.#options = options
    this.#events = events
    this.directories = labelled(options.directories)
    this.#identities = this.directories.map(() => null)
    this.#watches = this.directories.map(() => null)
    this.#inside = this.directories.map(() => new Set<string>())
    this.first = this.#look()
    this.#looking = this.first
    this.#ticker = setInterval(() => void this.#tick(), TICK_MS)
  }

  get generation(): number {
    return this.#generation
  }

  /** Which directories are there, in their order. */
  get present(): readonly boolean[] {
    return this.#identities.map((identity) => identity !== null)
  }

  /** What a reader must know to trust what is found. */
  get notice(): string | undefined {
    const gone = this.directories.filter((_, i) => this.#identities[i] === null)
    const { files, bytes } = this.#options.limits
    const notices = [
      ...(gone.length > 0 ? [`Not searched, because it is gone: ${gone.map(({ path }) => path).join(', ')}.`] : []),
      ...(this.#truncated
        ? [`Only the first ${this.#known.size} documents were indexed (limits: ${files} files, ${bytes} bytes).`]
        : []),
      ...(this.#known.size === 0 && gone.length === 0 ? ['There are no documents in the served directories.'] : []),
    ]
    return notices.length === 0 ? undefined : notices.join(' ')
  }

  /** Where the document of this uri is on the disk. */
  find(uri: string): Pick<FoundFile, 'path' | 'bytes'> | undefined {
    return this.#known.get(uri)
  }

  /** Watching begins after a look, so what happened meanwhile is looked for once more. */
  async #settle(): Promise<void> {
    await this.#rewatch()
    this.#lookSoon()
  }

  #lookSoon(): void {
    if (this.#closed || this.#lookTimer !== undefined) return
    const delay = Math.min(LONGEST_SETTLE_MS, Math.max(SETTLE_MS, this.#lastLookMs * 3))
    this.#lookTimer = setTimeout(() => {
      this.#lookTimer = undefined
      this.#looking = this.#looking.then(() => this.#look())
    }, delay)
  }

  async #tick(): Promise<void> {
    this.#ticks += 1
    const full = this.#ticks % TICKS_PER_FULL_LOOK === 0
    const identities = await Promise.all(this.directories.map(({ path }) => identityOf(path)))
    const moved = identities.some((identity, i) => identity !== this.#identities[i])
    const blind = identities.some((identity, i) => identity !== null && this.#watches[i] === null)
    if (full || moved || blind) this.#lookSoon()
  }

  /** Never fails: what cannot be read now is tried again at the next look. */
  async #look(): Promise<void> {
    if (this.#closed) return
    const started = performance.now()
    const first = this.#generation === 0
    const before = [...this.#identities]
    try {
      await this.#reconcile()
    } catch (error) {
      this.#events.log(`The documents could not be looked through (${reasonOf(error)}); trying again.`)
      this.#lookSoon()
    }
    this.#lastLookMs = performance.now() - started
    if (first || this.#identities.some((now, i) => now !== before[i])) this.#directoriesChanged(first, before)
    else if (this.#hasUnwatched()) this.#settleSoon()
  }

  /** The system's watch does not see into what lies in a new directory; only a watch begun afresh does. */
  #hasUnwatched(): boolean {
    return this.#inside.some((now, i) => [...now].some((directory) => this.#watched[i]?.has(directory) !== true))
  }

  #directoriesChanged(first: boolean, before: readonly (string | null)[]): void {
    for (const [i, { path }] of this.directories.entries()) {
      if (!first && before[i] === null && this.present[i] === true) this.#events.log(`${path} is back and searched.`)
      if (before[i] !== null && this.present[i] === false) this.#events.log(`${path} is gone; nothing in it is found.`)
    }
    this.#events.directories(this.present)
    this.#settleSoon()
  }

  #settleSoon(): void {
    this.#settling = this.#settling.then(() => this.#settle())
  }

  async #rewatch(): Promise<void> {
    this.#watched = [...this.#inside]
    if (this.#options.poll) return
    for (const [i, { path }] of this.directories.entries()) {
      await this.#watches[i]?.close()
      const there = this.#identities[i] !== null && !this.#closed
      this.#watches[i] = there ? await watch(resolve(path), () => this.#lookSoon(), this.#events.log) : null
    }
  }

  async #reconcile(): Promise<void> {
    const budget: Budget = { ...this.#options.limits }
    const seen = new Set<string>()
    let truncated = false
    for (const [i, directory] of this.directories.entries()) {
      const found = await walk(resolve(directory.path), budget)
      this.#identities[i] = found?.identity ?? null
      this.#inside[i] = found?.directories ?? new Set()
      truncated ||= found?.truncated === true
      const changed: Candidate[] = []
      for (const file of found?.files ?? []) {
        const uri = uriOf(directory, file.file)
        seen.add(uri)
        if (this.#known.get(uri)?.stamp !== file.stamp) changed.push({ ...file, uri, directory: i })
      }
      await this.#take(changed)
    }
    this.#truncated = truncated
    this.#forget([...this.#known.keys()].filter((uri) => !seen.has(uri)))
    if (this.#generation === 0) this.#generation = 1
  }

  async #take(files: readonly Candidate[]): Promise<void> {
    for (let i = 0; i < files.length && !this.#closed; i += DOCUMENTS_PER_CHANGE) {
      const batch = files.slice(i, i + DOCUMENTS_PER_CHANGE)
      const documents = await Promise.all(batch.map((file) => this.#read(file)))
      this.#change(() => {
        for (const [j, { uri }] of batch.entries()) {
          const document = documents[j]
          if (document) this.#database.put(document)
          else this.#database.remove(uri)
        }
      })
      for (const { uri, stamp, path, bytes } of batch) this.#known.set(uri, { stamp, path, bytes })
    }
  }

  /** Null for what is no document after all; it is read again when it changes. */
  async #read(file: Candidate): Promise<NewDocument | null> {
    try {
      const loaded = await load(file)
      if ('outline' in loaded) {
        return { ...file, title: titleOf(loaded.outline, basename(file.file)), passages: passagesOf(loaded.outline) }
      }
      this.#events.log(`${file.path} is not searched: ${loaded.skipped}.`)
    } catch (error) {
      this.#events.log(`${file.path} is not searched: it cannot be read (${reasonOf(error)}).`)
    }
    return null
  }

  #forget(uris: readonly string[]): void {
    if (uris.length === 0) return
    this.#change(() => {
      for (const uri of uris) this.#database.remove(uri)
    })
    for (const uri of uris) this.#known.delete(uri)
  }

  #change(write: () => void): void {
    this.#database.change(write)
    this.#generation += 1
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearInterval(this.#ticker)
    clearTimeout(this.#lookTimer)
    await this.#looking
    await this.#settling
    for (const watching of this.#watches) await watching?.close()
  }
}

type Candidate = FoundFile & { readonly uri: string; readonly directory: number }

function uriOf(directory: Directory, file: string): string {
  return `doc://${encodeURIComponent(directory.label)}/${file.split('/').map(encodeURIComponent).join('/')}`
}

/** The same directory given twice is served once. */
function labelled(paths: readonly string[]): readonly Directory[] {
  const taken = new Set<string>()
  const once = new Map(paths.map((path) => [resolve(path), path]))
  return [...once.values()].map((path) => {
    const name = basename(resolve(path)) || 'root'
    let label = name
    for (let n = 2; taken.has(label); n++) label = `${name}-${n}`
    taken.add(label)
    return { path, label }
  })
}
