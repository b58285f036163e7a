/** What an agent writes to stderr: a bounded log on disk, and its last lines for errors. */
import { createWriteStream, mkdirSync, renameSync, type WriteStream } from 'node:fs'
import { dirname } from 'node:path'

const MAX_FILE_BYTES = 1024 * 1024
const LAST_LINES = 20
/** A line is cut there: no error shows more. */
const MAX_LINE_CHARS = 2_000
/** A disk that does not write must not fill the memory. */
const MAX_UNWRITTEN_BYTES = 256 * 1024

export class StderrLog {
  readonly #path: string | undefined
  readonly #mask: (text: string) => string
  readonly #decoder = new TextDecoder()
  #file: WriteStream | undefined
  #fileBytes = 0
  #unfinished = ''
  #last: readonly string[] = []

  /** Without a path nothing is written to disk. */
  constructor(path: string | undefined, mask: (text: string) => string) {
    this.#path = path
    this.#mask = mask
  }

  add(bytes: Uint8Array): void {
    const lines = (this.#unfinished + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#unfinished = (lines.pop() ?? '').slice(-MAX_LINE_CHARS)
    this.#keep(lines)
  }

  note(line: string): void {
    this.#keep([line])
  }

  /** The last lines, masked. */
  last(count = LAST_LINES): string {
    const lines = this.#unfinished === '' ? this.#last : [...this.#last, this.#mask(this.#unfinished)]
    return lines.slice(-count).join('\n').trim()
  }

  close(): void {
    if (this.#unfinished !== '') this.#keep([this.#unfinished])
    this.#unfinished = ''
    this.#file?.end()
    this.#file = undefined
  }

  #keep(lines: readonly string[]): void {
    if (lines.length === 0) return
    // A flood is not worth more than the file holds.
    const kept = lines.slice(-LAST_LINES * 50).map((line) => this.#mask(line).slice(0, MAX_LINE_CHARS))
    this.#last = [...this.#last, ...kept.slice(-LAST_LINES)].slice(-LAST_LINES)
    this.#write(Buffer.from(`${kept.join('\n')}\n`))
  }

  #write(bytes: Buffer): void {
    if (this.#path === undefined) return
    if (this.#fileBytes + bytes.length > MAX_FILE_BYTES) this.#rotate(this.#path)
    const file = (this.#file ??= this.#opened(this.#path))
    if (file.writableLength > MAX_UNWRITTEN_BYTES) return
    this.#fileBytes += bytes.length
    file.write(bytes)
  }

  #opened(path: string): WriteStream {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = createWriteStream(path, { flags: 'w', mode: 0o600 })
    // A log that cannot be written harms nothing.
    file.on('error', () => undefined)
    return file
  }

  #rotate(path: string): void {
    this.#file?.end()
    this.#file = undefined
    this.#fileBytes = 0
    try {
      renameSync(path, `${path}.1`)
    } catch {
      // There is none yet.
    }
  }
}
