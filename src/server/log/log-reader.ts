/** Reads the log from another process: the lines that are there, then new ones as they come. */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { logPathIn } from './log-line.ts'

export class LogReader {
  readonly #path: string
  #file: number | undefined
  #at = 0
  /** The bytes after the last newline. */
  #rest: Buffer = Buffer.alloc(0)

  /** With the `place` of an earlier reader, `next` continues there. */
  constructor(home: string, place?: string) {
    this.#path = logPathIn(home)
    const [, file, at] = /^(\d{1,20}):(\d{1,15})$/u.exec(place ?? '') ?? []
    if (file !== undefined) [this.#file, this.#at] = [Number(file), Number(at)]
  }

  /** How far it has read: the file, and the bytes of whole lines. */
  get place(): string {
    return `${this.#file ?? 0}:${this.#at - this.#rest.length}`
  }

  /** The last `count` lines, also of the rotated log; `next` continues after them. Without a log there are none. */
  last(count: number): readonly string[] {
    const lines = this.next()
    const earlier = lines.length < count ? logLines(readOrNothing(`${this.#path}.1`)) : []
    return count === 0 ? [] : [...earlier, ...lines].slice(-count)
  }

  /** The lines since the last call. After a rotation they continue in the new file. */
  next(): readonly string[] {
    const bytes = Buffer.concat([this.#rest, this.#read()])
    const end = bytes.lastIndexOf(0x0a) + 1
    this.#rest = bytes.subarray(end)
    return logLines(bytes.subarray(0, end))
  }

  #read(): Buffer {
    let descriptor: number | undefined
    try {
      descriptor = openSync(this.#path, 'r')
      const { ino, size } = fstatSync(descriptor)
      // Another file, or one that was truncated, is read from its beginning.
      if (ino !== this.#file || size < this.#at) this.#at = 0
      this.#file = ino
      const bytes = Buffer.alloc(size - this.#at)
      this.#at += readSync(descriptor, bytes, 0, bytes.length, this.#at)
      return bytes
    } catch {
      // There is no log, or none that we may read.
      return Buffer.alloc(0)
    } finally {
      if (descriptor !== undefined) closeSync(descriptor)
    }
  }
}

function readOrNothing(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    // None was put aside.
    return Buffer.alloc(0)
  }
}

function logLines(bytes: Buffer): readonly string[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
}
