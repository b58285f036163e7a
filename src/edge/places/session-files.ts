/** Finds files in a session's directories by parts of their names, for a client whose user mentions one in a prompt. */
import { LruMap } from '../../async/lru.ts'
import type { Clock } from '../../ports/clock.ts'
import { isBelow } from '../../credentials/scope.ts'
import { openRoots } from '../../workspace/resolve-in-roots.ts'
import { walkTree } from '../../workspace/walk.ts'

export interface FoundFile {
  /** Absolute. */
  readonly path: string
  /** From the session's directory on, with slashes. */
  readonly name: string
}

export interface FoundFiles {
  /** The best first. */
  readonly files: readonly FoundFile[]
  /** False while the directories are being read: there may be better matches. */
  readonly complete: boolean
  /** How long ago the directories began to be read, in milliseconds: what was made since may be missing. */
  readonly age: number
}

export interface FileQuery {
  /** The session's own directory first. */
  readonly directories: readonly string[]
  readonly query: string
  readonly limit: number
}

/** Of one session; further ones are not found. */
const MOST_FILES = 50_000
const DEPTH = 40
/** Sessions whose files are kept in memory, and for how long after the last query. */
const KEPT_SESSIONS = 3
const KEPT_MS = 60_000
/** The longest time to read the directories, because one may contain a whole disk. Milliseconds. */
const LONGEST_MS = 10_000
/** The list stays fresh for this many times the time that reading took. Files that were made since may be missing. */
const FRESH_TIMES = 10
/** A user who types waits no longer for the rest of a large directory. */
const FIRST_ANSWER_MS = 80

interface SearchableFile extends FoundFile {
  /** In lower case. */
  readonly searched: string
  /** The offset of the file's own name in that path. */
  readonly base: number
}

/** The files of some directories, as they were read last. */
class Listing {
  readonly #directories: readonly string[]
  readonly #now: () => number
  #files: readonly SearchableFile[] = []
  #isRead = false
  /** When those began to be read that are here. */
  #begun = 0
  #freshUntil = 0
  #reading: Promise<void> | undefined
  /** Tells apart a query from those after it. */
  queries = 0

  constructor(directories: readonly string[], now: () => number) {
    this.#directories = directories
    this.#now = now
  }

  /** What is there after `patience`: the files as they are now, else those that were read before or are read by then. */
  async files(
    patience: () => Promise<void>,
  ): Promise<Omit<FoundFiles, 'files'> & { readonly files: readonly SearchableFile[] }> {
    let complete = this.#isRead && this.#now() < this.#freshUntil
    if (!complete) {
      this.#reading ??= this.#read()
      complete = await Promise.race([this.#reading.then(() => true), patience().then(() => false)])
    }
    return { files: this.#files, complete, age: this.#now() - this.#begun }
  }

  async #read(): Promise<void> {
    const files: SearchableFile[] = []
    // The first time, what has been read so far is better than nothing.
    const begun = this.#now()
    if (!this.#isRead) {
      this.#files = files
      this.#begun = begun
    }
    try {
      await listInto(files, this.#directories, () => this.#now() > begun + LONGEST_MS)
      this.#files = files
      this.#begun = begun
      this.#isRead = true
      const end = this.#now()
      this.#freshUntil = end + FRESH_TIMES * (end - begun)
    } finally {
      this.#reading = undefined
    }
  }
}

export class SessionFiles {
  readonly #clock: Pick<Clock, 'now' | 'setTimer'>
  readonly #listings = new LruMap<string, Listing>(KEPT_SESSIONS)

  constructor(clock: Pick<Clock, 'now' | 'setTimer'>) {
    this.#clock = clock
  }

  /** Links are not followed, and ignored files are left out. Throws FILE_MISSING for a directory that is gone. */
  async find({ directories, query, limit }: FileQuery): Promise<FoundFiles> {
    const key = JSON.stringify(directories)
    const listing = this.#listings.getOrMake(key, () => new Listing(directories, () => this.#clock.now()))
    this.#forgetLater(key, listing)
    try {
      const { files, ...found } = await listing.files(() => this.#patience())
      return { ...found, files: bestOf(files, query, limit) }
    } catch (error) {
      this.#listings.delete(key)
      throw error
    }
  }

  #forgetLater(key: string, listing: Listing): void {
    const query = (listing.queries += 1)
    this.#clock.setTimer(KEPT_MS, () => {
      if (listing.queries === query) this.#listings.delete(key)
    })
  }

  #patience(): Promise<void> {
    return new Promise((over) => this.#clock.setTimer(FIRST_ANSWER_MS, over))
  }
}

async function listInto(files: SearchableFile[], directories: readonly string[], isLate: () => boolean): Promise<void> {
  const all = await openRoots(directories)
  const own = `${all[0]?.real ?? ''}/`
  const roots = all.filter(
    ({ real }, index) =>
      all.findIndex((other) => other.real === real) === index &&
      !all.some((other) => other.real !== real && isBelow(real, other.real)),
  )
  const never = new AbortController().signal
  for (const { real, given } of roots) {
    const options = { roots, depth: DEPTH, ignored: false, signal: never, passes: () => false }
    await walkTree(real, options, async (met) => {
      if (isLate()) return 'enough'
      if (met.kind !== 'file') return 'on'
      const path = `${given}/${met.way}`
      const isOwn = `${real}/${met.way}`.startsWith(own)
      const name = isOwn ? `${real}/${met.way}`.slice(own.length) : path
      const searched = name.toLowerCase()
      files.push({ path, name, searched, base: searched.lastIndexOf('/') + 1 })
      return files.length < MOST_FILES ? 'on' : 'enough'
    })
  }
}

function bestOf(files: readonly SearchableFile[], query: string, limit: number): readonly FoundFile[] {
  const wanted = query.trim().toLowerCase()
  const ranked = files.flatMap((file) => {
    const rank = rankOf(file, wanted)
    return rank === undefined ? [] : [{ file, rank }]
  })
  ranked.sort((one, other) => one.rank - other.rank || byName(one.file, other.file))
  return ranked.slice(0, limit).map(({ file: { path, name } }) => ({ path, name }))
}

/** The less the better; undefined for a file that does not fit. */
function rankOf({ searched, base }: SearchableFile, wanted: string): number | undefined {
  if (searched.startsWith(wanted, base)) return 0
  if (searched.includes(wanted, base)) return 1
  if (searched.includes(wanted)) return 2
  return hasInOrder(searched, wanted) ? 3 : undefined
}

function hasInOrder(text: string, wanted: string): boolean {
  let at = -1
  for (const character of wanted) {
    at = text.indexOf(character, at + 1)
    if (at === -1) return false
  }
  return true
}

/** What is near the top comes first. */
function byName({ name: one }: FoundFile, { name: other }: FoundFile): number {
  return one.length - other.length || (one < other ? -1 : Number(one > other))
}
