/**
 * The parts of an answer, in order: those that the provider's package makes of the events that it is given, and the texts of
 * the events between them that it need not read.
 */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { Clock } from '../../../ports/clock.ts'
import { SseChunkMerger, type TextRun } from './sse-chunk-merger.ts'

export interface AnswerPart {
  readonly part: LanguageModelV3StreamPart
  /** The texts of the events that made it, if there were several. */
  readonly pieces?: readonly string[] | undefined
}

type Reader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>
type Delta = Extract<LanguageModelV3StreamPart, { readonly type: 'text-delta' | 'reasoning-delta' }>

/** What the package said last, until it is asked for. */
type Read = { readonly part: LanguageModelV3StreamPart | undefined } | { readonly error: unknown }

export class AnswerParts {
  readonly #clock: Clock
  readonly #merger = new SseChunkMerger()
  #reader: Reader | undefined
  #isReading = false
  #read: Read | undefined
  /** The last part that added text, and how many did since the package was given something. */
  #delta: Delta | undefined
  #deltas = 0
  #kept: TextRun | undefined
  #keptTaken = (): void => {}
  #given = 0
  /** The package has said all that it can say of what it was given. */
  #isQuiet = true
  /** Set while the next part is awaited. */
  #arrived: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The bytes that the package is to read of these; resolves once the texts that come before them were taken. */
  async give(bytes: Uint8Array): Promise<Uint8Array> {
    const given = this.#merger.join(bytes)
    const kept = this.#merger.takeKept()
    if (kept !== undefined) await this.#keep(kept)
    if (given.length > 0) void this.#observe()
    return given
  }

  /** The bytes of an event that is unfinished at the end of the answer. */
  rest(): Uint8Array {
    return this.#merger.rest()
  }

  /** Where the package answers. */
  from(reader: Reader): void {
    this.#reader = reader
  }

  /** Undefined at the end. Throws the error with which the package ends. */
  async next(): Promise<AnswerPart | undefined> {
    for (;;) {
      // Texts are kept from the package only while it is quiet.
      if (this.#kept !== undefined && this.#delta !== undefined) return this.#takeKept(this.#kept, this.#delta)
      if (this.#read !== undefined) return this.#take(this.#read)
      this.#ask()
      await new Promise<void>((resolve) => (this.#arrived = resolve))
    }
  }

  #keep(run: TextRun): Promise<void> {
    this.#kept = run
    return new Promise((resolve) => {
      this.#keptTaken = resolve
      this.#arrive()
    })
  }

  #takeKept({ text, pieces }: TextRun, { type, id }: Delta): AnswerPart {
    this.#kept = undefined
    this.#keptTaken()
    return { part: { type, id, delta: text }, ...(pieces.length > 1 && { pieces }) }
  }

  #ask(): void {
    if (this.#isReading || this.#reader === undefined) return
    this.#isReading = true
    this.#reader.read().then(
      ({ value }) => this.#hear({ part: value }),
      (error: unknown) => this.#hear({ error }),
    )
  }

  #hear(read: Read): void {
    this.#isReading = false
    this.#read = read
    this.#arrive()
  }

  #arrive(): void {
    this.#arrived?.()
    this.#arrived = undefined
  }

  #take(read: Read): AnswerPart | undefined {
    this.#read = undefined
    if ('error' in read) throw read.error
    const { part } = read
    const isDelta = part?.type === 'text-delta' || part?.type === 'reasoning-delta'
    if (isDelta) {
      this.#delta = part
      this.#deltas += 1
    }
    return part && { part, pieces: isDelta ? this.#merger.pieces(part.delta) : undefined }
  }

  /**
   * The packages wait for nothing but bytes. So if all that was possible has run since this one was given some, and its next
   * part is still awaited, it is quiet. If it was quiet before too, and has made one text of the one event between, it is
   * known what it makes of events like that one.
   */
  async #observe(): Promise<void> {
    const wasQuiet = this.#isQuiet
    this.#isQuiet = false
    this.#deltas = 0
    this.#given += 1
    const given = this.#given
    await this.#clock.nextTick()
    if (given !== this.#given || this.#arrived === undefined || this.#read !== undefined) return
    this.#isQuiet = true
    if (wasQuiet && this.#deltas === 1 && this.#delta?.delta === this.#merger.lastText) this.#merger.keepLikeLast()
  }
}
