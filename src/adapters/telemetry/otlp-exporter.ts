/**
 * Posts spans and metrics to an OpenTelemetry collector in the background. What waits is bounded; what does not fit is
 * dropped and counted.
 */
import type { Clock, Timer } from '../../ports/clock.ts'
import type { Attributes, Histogram, Span, Telemetry } from '../../ports/values/telemetry.ts'
import { type Reading, type Series, metricsRequest, tracesRequest } from './otlp-json.ts'
import { protobufOf } from './otlp-protobuf.ts'

export interface ExporterOptions {
  /** Where spans are posted; absent: they are not. */
  readonly traces?: string
  readonly metrics?: string
  readonly protocol: 'http/json' | 'http/protobuf'
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Attributes
  readonly clock: Clock
  /** For the log: once when the collector fails, once when it works again. */
  note(sentence: string, details: Readonly<Record<string, unknown>>): void
}

const MAX_WAITING_SPANS = 2_048
const MAX_SPANS_OF_A_REQUEST = 512
/** Sets of attributes of one histogram; the values of further ones are counted together. */
const MAX_SERIES = 256
const SPANS_EVERY_MS = 5_000
const METRICS_EVERY_MS = 60_000
const REQUEST_TIMEOUT_MS = 10_000
/** How long the end of the server waits for the collector. */
const CLOSE_TIMEOUT_MS = 2_000

const TOO_MANY: Attributes = { 'otel.metric.overflow': true }

type Outcome = 'taken' | 'refused' | 'failed'

export class OtlpExporter implements Telemetry {
  readonly #options: ExporterOptions
  readonly #since: number
  readonly #histograms = new Map<string, { readonly histogram: Histogram; readonly series: Map<string, Series> }>()
  readonly #gauges: { readonly name: string; readonly unit: string; readonly read: () => number }[] = []
  /** Aborted when the time of the last attempt is over. */
  readonly #closing: ReturnType<Clock['abortSource']>
  #waiting: Span[] = []
  #dropped = 0
  #isFailing = false
  #spanTimer: Timer | undefined
  #metricTimer: Timer | undefined
  #sending: Promise<unknown> = Promise.resolve()
  #closed: Promise<void> | undefined

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#since = options.clock.now()
    this.#closing = options.clock.abortSource()
    this.#scheduleMetrics()
  }

  /** Spans that no collector got. */
  get dropped(): number {
    return this.#dropped
  }

  span(span: Span): void {
    if (this.#options.traces === undefined) return
    if (this.#waiting.length >= MAX_WAITING_SPANS || this.#closed !== undefined) {
      this.#dropped += 1
      return
    }
    this.#waiting.push(span)
    this.#spanTimer ??= this.#options.clock.setTimer(SPANS_EVERY_MS, () => void this.#enqueue(() => this.#sendSpans()))
  }

  record(histogram: Histogram, value: number, attributes: Attributes): void {
    if (this.#options.metrics === undefined) return
    const { name, bounds } = histogram
    const { series: all } = getOrMake(this.#histograms, name, () => ({ histogram, series: new Map<string, Series>() }))
    const key = JSON.stringify(attributes)
    const isKnown = all.has(key) || all.size < MAX_SERIES
    const make = (own: Attributes) => (): Series => ({
      attributes: own,
      count: 0,
      sum: 0,
      buckets: Array.from({ length: bounds.length + 1 }, () => 0),
    })
    const series = isKnown ? getOrMake(all, key, make(attributes)) : getOrMake(all, 'too many', make(TOO_MANY))
    const found = bounds.findIndex((bound) => value <= bound)
    const bucket = found === -1 ? bounds.length : found
    series.count += 1
    series.sum += value
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1
  }

  gauge(name: string, unit: string, read: () => number): void {
    this.#gauges.push({ name, unit, read })
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const { clock } = this.#options
    this.#spanTimer?.cancel()
    this.#metricTimer?.cancel()
    const limit = clock.setTimer(CLOSE_TIMEOUT_MS, () => this.#closing.abort())
    await this.#enqueue(async () => {
      await this.#sendSpans()
      // A process that was refused the state has nothing to tell.
      if (this.#histograms.size > 0) await this.#sendMetrics()
    })
    limit.cancel()
    this.#dropped += this.#waiting.length
    this.#waiting = []
    if (this.#dropped === 0) return
    this.#options.note('spans were lost: the collector of telemetry did not take them', { spans: this.#dropped })
  }

  /** One request at a time, so that a slow collector never has more of them than one. */
  #enqueue(send: () => Promise<void>): Promise<unknown> {
    this.#sending = this.#sending.then(send).catch((error: unknown) => {
      this.#options.note('telemetry could not be sent', { reason: reasonOf(error) })
    })
    return this.#sending
  }

  #scheduleMetrics(): void {
    if (this.#options.metrics === undefined) return
    this.#metricTimer = this.#options.clock.setTimer(METRICS_EVERY_MS, () => {
      void this.#enqueue(() => this.#sendMetrics())
      this.#scheduleMetrics()
    })
  }

  async #sendSpans(): Promise<void> {
    const { traces, resource } = this.#options
    this.#spanTimer?.cancel()
    this.#spanTimer = undefined
    if (traces === undefined) return
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_SPANS_OF_A_REQUEST)
      const outcome = await this.#post(traces, tracesRequest(resource, batch))
      if (outcome === 'refused') this.#dropped += batch.length
      if (outcome === 'failed') return this.#keep(batch)
    }
  }

  /** The next attempt sends them again, as far as there is room. */
  #keep(batch: readonly Span[]): void {
    const all = [...batch, ...this.#waiting]
    this.#waiting = all.slice(0, MAX_WAITING_SPANS)
    this.#dropped += all.length - this.#waiting.length
    if (this.#closed !== undefined) return
    this.#spanTimer ??= this.#options.clock.setTimer(SPANS_EVERY_MS, () => void this.#enqueue(() => this.#sendSpans()))
  }

  async #sendMetrics(): Promise<void> {
    const { metrics, resource, clock } = this.#options
    if (metrics === undefined) return
    const gauges = this.#gauges.map(({ name, unit, read }): Reading => ({ name, unit, value: read() }))
    const counters = [{ name: 'parley.telemetry.dropped_spans', unit: '{span}', value: this.#dropped }]
    const histograms = [...this.#histograms.values()].map(({ histogram, series }) => ({
      histogram,
      series: [...series.values()],
    }))
    const now = clock.now()
    await this.#post(metrics, metricsRequest(resource, { since: this.#since, now, histograms, gauges, counters }))
  }

  /** Never throws. `failed` may succeed later, `refused` never will. */
  async #post(url: string, request: object): Promise<Outcome> {
    const { clock, headers, protocol } = this.#options
    const isJson = protocol === 'http/json'
    const body = encoded(request, isJson)
    if (body === undefined) return 'refused'
    const source = clock.abortSource()
    const abort = (): void => source.abort()
    const limit = clock.setTimer(REQUEST_TIMEOUT_MS, abort)
    if (this.#closing.signal.aborted) abort()
    this.#closing.signal.addEventListener('abort', abort, { once: true })
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': isJson ? 'application/json' : 'application/x-protobuf' },
        body,
        // The headers may hold a key, which no other address may get.
        redirect: 'error',
        signal: source.signal as AbortSignal,
      })
      await response.body?.cancel()
      this.#report(url, response.ok ? undefined : `it answered ${response.status}`)
      if (response.ok) return 'taken'
      return response.status === 429 || response.status >= 500 ? 'failed' : 'refused'
    } catch (error) {
      this.#report(url, reasonOf(error))
      return 'failed'
    } finally {
      limit.cancel()
      this.#closing.signal.removeEventListener('abort', abort)
    }
  }

  #report(url: string, reason: string | undefined): void {
    const isFailing = reason !== undefined
    if (isFailing === this.#isFailing) return
    this.#isFailing = isFailing
    const collector = new URL(url).host
    if (isFailing) this.#options.note('the collector of telemetry does not take what it is sent', { collector, reason })
    else this.#options.note('the collector of telemetry works again', { collector, lost: this.#dropped })
  }
}

/** Undefined for what the protocol has no form for, such as a count beyond 64 bits: it would be sent again and again. */
function encoded(request: object, isJson: boolean): string | Uint8Array<ArrayBuffer> | undefined {
  try {
    return isJson ? JSON.stringify(request) : protobufOf(request)
  } catch {
    return undefined
  }
}

/** `fetch` says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : error instanceof Error ? error.name : 'unknown'
}

function getOrMake<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
