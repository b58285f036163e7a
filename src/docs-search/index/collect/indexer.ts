/** Keeps the index up to date with the directories: one walk through them at the start, and another after each change. */
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { Collection } from '../collections.ts'
import type { IndexWriter, NewDocument } from '../store/index-writer.ts'
import { load, type Unpack } from './load.ts'
import { othersWithin, WatchedCollection } from './watched-collection.ts'
import { passagesOf, titleOf } from '../document/split-into-passages.ts'
import type { Changes, IndexOptions, DocumentIndexState } from '../worker/protocol.ts'
import { type Budget, type IndexableFile, walk } from './walk.ts'
import type { Watch, WatchEvents } from './watch.ts'

export interface IndexerEvents {
  readonly log: (line: string) => void
  readonly present: (names: readonly string[]) => void
  readonly changed: (changes: Changes) => void
  /** The state of the index, sent whenever it changes. */
  readonly standing: (standing: DocumentIndexState) => void
}

export interface IndexerParts {
  readonly database: IndexWriter
  readonly unpack: Unpack
  readonly watch: Watch
  readonly options: IndexOptions
}

interface KnownDocument {
  readonly stamp: string
  readonly collection: string
}

/** How often the directories are checked for existence, and scanned where the system reports no changes. */
const TICK_MS = 2_000
/** Ticks between two scans where the system does not report every change, as on a network file system. */
const TICKS_WITHOUT_WATCH = 15
/** Ticks between two looks that nothing asked for: an hour. */
const TICKS_WITH_WATCH = 1_800
const SETTLE_MS = 150
const MAX_SETTLE_MS = 1_500
/** Each change leaves a piece of index that is merged with others later: few large ones are less work than many small ones. */
const DOCUMENTS_PER_CHANGE = 128
const BYTES_PER_CHANGE = 500_000

export class Indexer implements AsyncDisposable {
  readonly #writer: IndexWriter
  readonly #unpack: Unpack
  readonly #watch: Watch
  readonly #options: IndexOptions
  readonly #events: IndexerEvents
  #served: readonly WatchedCollection[]
  /** Documents that are in the index or were skipped, by URI. */
  readonly #known = new Map<string, KnownDocument>()
  /** Whether this process has looked through everything. */
  #scanned = false
  /** Whether there is an index to search: everything was looked at once, now or by an earlier process. */
  #settled = false
  #truncated = false
  #scanTimer: NodeJS.Timeout | undefined
  readonly #ticker: NodeJS.Timeout
  #ticks = 0
  #scanning: Promise<void> = Promise.resolve()
  #settling: Promise<void> = Promise.resolve()
  #lastScanMs = 0
  #closed = false

  constructor({ database, unpack, watch, options }: IndexerParts, events: IndexerEvents) {
    this.#writer = database
    this.#unpack = unpack
    this.#watch = watch
    this.#options = options
    this.#events = events
    this.#served = options.collections.map((collection) => this.#watchedCollection(collection))
    this.#loadKnown()
    const there = Promise.all(this.#served.map((one) => one.find())).then(() => undefined)
    this.#scanning = there.then(() => {
      this.#emitState()
      return this.#scan()
    })
    void (database.complete ? there : this.#scanning).then(() => {
      this.#settled = true
      this.#emitState()
    })
    this.#ticker = setInterval(() => void this.#tick(), TICK_MS)
  }

  #watchedCollection(collection: Collection): WatchedCollection {
    return new WatchedCollection(collection, this.#writer.collection(collection.name))
  }

  /**
   * Takes over the documents that an earlier process indexed. Documents of collections that are not served any more are
   * not looked for, and so removed.
   */
  #loadKnown(): void {
    for (const { uri, name, stamp } of this.#writer.known()) this.#known.set(uri, { stamp, collection: name })
  }

  /** Serves these from now on; those that were served before stay as they are. */
  setCollections(collections: readonly Collection[]): void {
    this.#scanning = this.#scanning.then(async () => {
      if (this.#closed) return
      const before = this.#served
      const kept = (collection: Collection) =>
        before.find((one) => one.collection.name === collection.name && one.collection.path === collection.path)
      this.#served = collections.map((collection) => kept(collection) ?? this.#watchedCollection(collection))
      // Two watches that end and begin at once may take each other along.
      const gone = before.filter((one) => !this.#served.includes(one))
      this.#settling = this.#settling.then(async () => {
        for (const one of gone) await one.unwatch()
      })
      this.#emitState()
      await this.#scan()
    })
  }

  #emitState(): void {
    this.#events.standing({
      served: this.#served.map(({ collection, id, directory, real, present }) => ({
        name: collectionName({ collection }),
        id,
        directory,
        real,
        present,
      })),
      settled: this.#settled,
      looked: this.#scanned,
      truncated: this.#truncated,
      documents: this.#known.size,
    })
  }

  /** Watching begins after a scan, so another scan finds the changes between the two. */
  async #settle(): Promise<void> {
    for (const one of this.#served) {
      if (this.#closed || this.#options.poll) break
      await one.rewatch(this.#watch, this.#watching(one))
    }
    this.#scanSoon()
  }

  /** A watch that broke may have missed something: it is begun afresh, and a look follows that. */
  #watching({ directory }: WatchedCollection): WatchEvents {
    const { log } = this.#events
    return {
      log,
      changed: () => this.#scanSoon(),
      lost: (reason) => {
        log(`The watch of ${directory} has ended (${reason}); it is begun again.`)
        this.#settleSoon()
      },
    }
  }

  #scanSoon(): void {
    if (this.#closed || this.#scanTimer !== undefined) return
    const delay = Math.min(MAX_SETTLE_MS, Math.max(SETTLE_MS, this.#lastScanMs * 3))
    this.#scanTimer = setTimeout(() => {
      this.#scanTimer = undefined
      this.#scanning = this.#scanning.then(() => this.#scan())
    }, delay)
  }

  async #tick(): Promise<void> {
    this.#ticks += 1
    const wishes = await Promise.all(this.#served.map((one) => one.needsScan()))
    const isHeard = this.#served.every((one) => one.isFullyWatched || !one.present)
    const rhythm = isHeard ? TICKS_WITH_WATCH : TICKS_WITHOUT_WATCH
    if (this.#ticks % rhythm === 0 || wishes.includes(true)) this.#scanSoon()
  }

  /** Never fails: files that cannot be read now are tried again at the next scan. */
  async #scan(): Promise<void> {
    if (this.#closed) return
    const started = performance.now()
    const first = !this.#scanned
    let moved: readonly WatchedCollection[] = []
    try {
      moved = await this.#reconcile()
      this.#writer.setComplete()
      this.#scanned = true
    } catch (error) {
      this.#events.log(`The documents could not be looked through (${reasonOf(error)}); trying again.`)
      this.#scanSoon()
    }
    this.#lastScanMs = performance.now() - started
    this.#emitState()
    if (!first) for (const one of moved) this.#events.log(presenceLine(one))
    this.#events.present(this.#served.filter(({ present }) => present).map(collectionName))
    if (first || moved.length > 0 || this.#served.some(({ hasUnwatchedDirectories: hasUnwatched }) => hasUnwatched))
      this.#settleSoon()
  }

  #settleSoon(): void {
    this.#settling = this.#settling.then(() => this.#settle())
  }

  /** Resolves with the collections that came or went. */
  async #reconcile(): Promise<readonly WatchedCollection[]> {
    const budget: Budget = { ...this.#options.limits }
    const seen = new Set<string>()
    const moved: WatchedCollection[] = []
    let truncated = false
    const within = await othersWithin(this.#served.map(({ directory }) => directory))
    for (const [at, served] of this.#served.entries()) {
      const found = await walk(served.directory, budget, this.#options)
      if (served.apply(found)) moved.push(served)
      truncated ||= found?.truncated === true
      // Documents of a directory that is gone stay in the index but are not found: the directory is often back soon.
      if (found === null) for (const uri of this.#urisIn(served)) seen.add(uri)
      const changed: Candidate[] = []
      for (const file of found?.files ?? []) {
        if (within[at]?.some((other) => file.path.startsWith(other))) continue
        const uri = uriOf(served.collection, file.file)
        seen.add(uri)
        if (this.#known.get(uri)?.stamp !== file.stamp) changed.push({ ...file, uri, served })
      }
      await this.#indexFiles(changed)
    }
    this.#truncated = truncated
    this.#forget([...this.#known.keys()].filter((uri) => !seen.has(uri)))
    return moved
  }

  #urisIn({ collection }: WatchedCollection): readonly string[] {
    return [...this.#known].filter(([, known]) => known.collection === collection.name).map(([uri]) => uri)
  }

  /** The next files are read while these are written. */
  async #indexFiles(files: readonly Candidate[]): Promise<void> {
    const batches = batchesOf(files)
    const read = (batch: readonly Candidate[] = []) => Promise.all(batch.map((file) => this.#read(file)))
    let reading = read(batches[0])
    for (let i = 0; i < batches.length && !this.#closed; i++) {
      const documents = await reading
      reading = read(batches[i + 1])
      this.#write(batches[i] ?? [], documents)
    }
    await reading
  }

  #write(batch: readonly Candidate[], documents: readonly (NewDocument | null)[]): void {
    this.#writer.change(() => {
      for (const [j, file] of batch.entries()) {
        const document = documents[j]
        if (document) this.#writer.put(document)
        else this.#writer.skip({ ...file, collection: file.served.id })
      }
    })
    const updated = batch.map(({ uri }) => uri).filter((uri) => this.#known.has(uri))
    for (const { uri, stamp, served } of batch) this.#known.set(uri, { stamp, collection: collectionName(served) })
    this.#emitState()
    this.#emit({ updated, listChanged: updated.length < batch.length })
  }

  /** Every reader waits for the first scan, so only later changes are reported. */
  #emit(changes: Changes): void {
    if (this.#scanned) this.#events.changed(changes)
  }

  /** Null for what is no document after all; it is read again when it changes. */
  async #read(file: Candidate): Promise<NewDocument | null> {
    try {
      const loaded = await load(file, this.#unpack)
      if ('outline' in loaded) {
        const { outline, mimeType } = loaded
        const title = titleOf(outline, basename(file.file))
        return { ...file, collection: file.served.id, title, mimeType, passages: passagesOf(outline) }
      }
      this.#events.log(`${file.path} is not searched: ${loaded.skipped}.`)
    } catch (error) {
      // What has gone since the directory was listed is no document any more.
      const reason = reasonOf(error).replace(/\.$/u, '')
      if (existsSync(file.path)) this.#events.log(`${file.path} is not searched: ${reason}.`)
    }
    return null
  }

  #forget(uris: readonly string[]): void {
    if (uris.length === 0) return
    this.#writer.change(() => {
      for (const uri of uris) this.#writer.remove(uri)
    })
    for (const uri of uris) this.#known.delete(uri)
    this.#emit({ updated: [], listChanged: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearInterval(this.#ticker)
    clearTimeout(this.#scanTimer)
    await this.#scanning
    await this.#settling
    for (const one of this.#served) await one.unwatch()
  }
}

type Candidate = IndexableFile & { readonly uri: string; readonly served: WatchedCollection }

function batchesOf(files: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const batches: Candidate[][] = []
  let bytes = Infinity
  for (const file of files) {
    const batch = batches.at(-1)
    bytes += file.bytes
    if (batch !== undefined && batch.length < DOCUMENTS_PER_CHANGE && bytes <= BYTES_PER_CHANGE) batch.push(file)
    else {
      batches.push([file])
      bytes = file.bytes
    }
  }
  return batches
}

function collectionName({ collection }: Pick<WatchedCollection, 'collection'>): string {
  return collection.name
}

function presenceLine({ collection, present }: WatchedCollection): string {
  return present ? `${collection.path} is there and searched.` : `${collection.path} is gone; nothing in it is found.`
}

function uriOf(collection: Collection, file: string): string {
  return `doc://${encodeURIComponent(collection.name)}/${file.split('/').map(encodeURIComponent).join('/')}`
}
