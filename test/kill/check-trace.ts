/**
 * Seen is stored, down to the disk: no text is written to a client before an fdatasync that covers it has returned. Covered is
 * what was written to the write-ahead log, by a call that had returned, before that fdatasync started.
 */
import type { Finding } from './evidence.ts'
import type { SystemCall } from './trace.ts'

export interface TraceCheck {
  readonly findings: readonly Finding[]
  /** Words that were told after they were on the disk. */
  readonly covered: number
  /** How many times the log was synced. */
  readonly syncs: number
}

/** Where words are; carried from one life of the server to the next, whose first sync covers what the last one left. */
export interface Disk {
  readonly durable: Set<string>
  /** Written to the log, and not yet synced. */
  readonly written: Set<string>
}

export function emptyDisk(): Disk {
  return { durable: new Set(), written: new Set() }
}

interface Moment {
  readonly at: number
  readonly call: SystemCall
  readonly kind: 'started' | 'returned'
}

/** `words` finds the texts that stand for one update each; it needs the flag g. */
export function checkTrace(calls: readonly SystemCall[], words: RegExp, disk: Disk = emptyDisk()): TraceCheck {
  const watch = new Watch(words, disk)
  for (const { kind, call } of momentsOf(calls)) {
    if (kind === 'started') watch.started(call)
    else watch.returned(call)
  }
  return watch.result()
}

/** A call that stands on one line started and returned there, in that order. */
function momentsOf(calls: readonly SystemCall[]): readonly Moment[] {
  const moments = calls.flatMap((call): readonly Moment[] => {
    const started: Moment = { at: call.started, call, kind: 'started' }
    return call.returned === undefined ? [started] : [started, { at: call.returned, call, kind: 'returned' }]
  })
  return moments.sort((one, other) => one.at - other.at)
}

const isWrite = (name: string): boolean => /^(?:p?writev?(?:64)?2?|sendto|sendmsg)$/.test(name)
const isSync = (name: string): boolean => name === 'fdatasync' || name === 'fsync'
const toLog = ({ args }: SystemCall): boolean => /^\d+<[^>]*-wal>/.test(args)
const toClient = ({ args }: SystemCall): boolean => /^1<[^>]*>/.test(args)

class Watch {
  readonly #words: RegExp
  readonly #disk: Disk
  /** What each sync that runs will have covered when it returns. */
  readonly #syncing = new Map<SystemCall, ReadonlySet<string>>()
  readonly #told = new Set<string>()
  readonly #findings: Finding[] = []
  #syncs = 0

  constructor(words: RegExp, disk: Disk) {
    this.#words = words
    this.#disk = disk
  }

  started(call: SystemCall): void {
    if (isSync(call.name) && toLog(call)) this.#syncing.set(call, new Set(this.#disk.written))
    else if (isWrite(call.name) && toClient(call)) for (const word of this.#wordsOf(call)) this.#tell(word, call)
  }

  returned(call: SystemCall): void {
    if (isWrite(call.name) && toLog(call)) for (const word of this.#wordsOf(call)) this.#disk.written.add(word)
    if (isSync(call.name) && toLog(call) && call.result === 0) this.#synced(call)
  }

  result(): TraceCheck {
    return { findings: this.#findings, covered: this.#told.size - this.#findings.length, syncs: this.#syncs }
  }

  #synced(call: SystemCall): void {
    this.#syncs += 1
    for (const word of this.#syncing.get(call) ?? []) {
      this.#disk.durable.add(word)
      this.#disk.written.delete(word)
    }
  }

  #tell(word: string, call: SystemCall): void {
    if (this.#told.has(word)) return
    this.#told.add(word)
    if (this.#disk.durable.has(word)) return
    const where = this.#disk.written.has(word) ? 'is in the log but not synced' : 'is not in the log'
    this.#findings.push({ kind: 'early', what: `line ${call.started + 1}: “${word}” is told while it ${where}` })
  }

  #wordsOf({ args }: SystemCall): readonly string[] {
    return args.match(this.#words) ?? []
  }
}
