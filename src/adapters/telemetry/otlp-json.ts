/** Spans and metrics as requests of OTLP in JSON: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
import type { Attributes, Histogram, Span } from '../../ports/values/telemetry.ts'

export interface Series {
  readonly attributes: Attributes
  count: number
  sum: number
  readonly buckets: number[]
}

export interface Reading {
  readonly name: string
  readonly unit: string
  readonly value: number
}

export interface Metrics {
  /** Since when the histograms and the counter count; milliseconds since 1970. */
  readonly since: number
  readonly now: number
  readonly histograms: readonly { readonly histogram: Histogram; readonly series: readonly Series[] }[]
  readonly gauges: readonly Reading[]
  readonly counters: readonly Reading[]
}

const SCOPE = { name: 'parley' }
const SPAN_KINDS = { internal: 1, client: 3 } as const
const STATUS_ERROR = 2
const CUMULATIVE = 2

export function tracesRequest(resource: Attributes, spans: readonly Span[]): object {
  const scopeSpans = [{ scope: SCOPE, spans: spans.map(spanJson) }]
  return { resourceSpans: [{ resource: { attributes: keyValues(resource) }, scopeSpans }] }
}

export function metricsRequest(resource: Attributes, { since, now, histograms, gauges, counters }: Metrics): object {
  const times = { startTimeUnixNano: nanoseconds(since), timeUnixNano: nanoseconds(now) }
  const metrics = [
    ...histograms.map(({ histogram, series }) => ({
      name: histogram.name,
      unit: histogram.unit,
      histogram: {
        aggregationTemporality: CUMULATIVE,
        dataPoints: series.map(({ attributes, count, sum, buckets }) => ({
          ...times,
          attributes: keyValues(attributes),
          count: String(count),
          sum,
          bucketCounts: buckets.map(String),
          explicitBounds: histogram.bounds,
        })),
      },
    })),
    ...gauges.map(({ name, unit, value }) => ({
      name,
      unit,
      gauge: { dataPoints: [{ timeUnixNano: times.timeUnixNano, asInt: String(value) }] },
    })),
    ...counters.map(({ name, unit, value }) => ({
      name,
      unit,
      sum: {
        aggregationTemporality: CUMULATIVE,
        isMonotonic: true,
        dataPoints: [{ ...times, asInt: String(value) }],
      },
    })),
  ]
  const scopeMetrics = [{ scope: SCOPE, metrics }]
  return { resourceMetrics: [{ resource: { attributes: keyValues(resource) }, scopeMetrics }] }
}

function spanJson({ traceId, spanId, parentId, name, kind, startedAt, endedAt, attributes, error }: Span) {
  const all = error === undefined ? attributes : { ...attributes, 'error.type': error }
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: keyValues(all),
    ...(error !== undefined && { status: { code: STATUS_ERROR } }),
  }
}

function keyValues(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: Attributes[string]): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { arrayValue: { values: value.map(anyValue) } }
}

/** A 64-bit number is text in OTLP's JSON, and too long for a number of JavaScript. */
function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n)
}
