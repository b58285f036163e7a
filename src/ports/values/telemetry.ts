/** What the server reports about its own work to a collector of traces and metrics. */

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** The place of a span: 32 and 16 hexadecimal digits. */
export interface SpanContext {
  readonly traceId: string
  readonly spanId: string
}

/** A piece of work that is over. */
export interface Span extends SpanContext {
  /** The `spanId` of the work that it is part of. */
  readonly parentId?: string
  readonly name: string
  /** `client`: another program did the work. */
  readonly kind: 'internal' | 'client'
  /** Milliseconds since 1970, like `endedAt`. */
  readonly startedAt: number
  readonly endedAt: number
  readonly attributes: Attributes
  /** The class of the error that ended it; never its text, which may quote content. */
  readonly error?: string
}

export interface Histogram {
  readonly name: string
  readonly unit: string
  /** Upper bounds of its buckets, ascending; what is above the last falls into one more. */
  readonly bounds: readonly number[]
}

/** Nothing here waits or throws: a collector that is slow or absent costs spans, never a turn. */
export interface Telemetry {
  span(span: Span): void
  record(histogram: Histogram, value: number, attributes: Attributes): void
  /** `read` is called whenever metrics are sent. */
  gauge(name: string, unit: string, read: () => number): void
  /** Sends what is left, within a bound of time. Idempotent. */
  close(): Promise<void>
}
