/** The same requests as Protocol Buffers: https://github.com/open-telemetry/opentelemetry-proto */

type Fields = Readonly<Record<string, unknown>>

type Scalar = 'text' | 'hex' | 'flag' | 'number' | 'integer' | 'fixed' | 'double'

/** The number of each field that Parley sends, and its type: a scalar or another message. */
const MESSAGES = {
  Request: { resourceSpans: [1, 'ResourceSpans'], resourceMetrics: [1, 'ResourceMetrics'] },
  ResourceSpans: { resource: [1, 'Resource'], scopeSpans: [2, 'ScopeSpans'] },
  ResourceMetrics: { resource: [1, 'Resource'], scopeMetrics: [2, 'ScopeMetrics'] },
  Resource: { attributes: [1, 'KeyValue'] },
  ScopeSpans: { scope: [1, 'Scope'], spans: [2, 'Span'] },
  ScopeMetrics: { scope: [1, 'Scope'], metrics: [2, 'Metric'] },
  Scope: { name: [1, 'text'] },
  Span: {
    traceId: [1, 'hex'],
    spanId: [2, 'hex'],
    parentSpanId: [4, 'hex'],
    name: [5, 'text'],
    kind: [6, 'number'],
    startTimeUnixNano: [7, 'fixed'],
    endTimeUnixNano: [8, 'fixed'],
    attributes: [9, 'KeyValue'],
    status: [15, 'Status'],
  },
  Status: { code: [3, 'number'] },
  KeyValue: { key: [1, 'text'], value: [2, 'AnyValue'] },
  AnyValue: {
    stringValue: [1, 'text'],
    boolValue: [2, 'flag'],
    intValue: [3, 'integer'],
    doubleValue: [4, 'double'],
    arrayValue: [5, 'ArrayValue'],
  },
  ArrayValue: { values: [1, 'AnyValue'] },
  Metric: { name: [1, 'text'], unit: [3, 'text'], gauge: [5, 'Gauge'], sum: [7, 'Sum'], histogram: [9, 'Histogram'] },
  Gauge: { dataPoints: [1, 'NumberPoint'] },
  Sum: { dataPoints: [1, 'NumberPoint'], aggregationTemporality: [2, 'number'], isMonotonic: [3, 'flag'] },
  Histogram: { dataPoints: [1, 'HistogramPoint'], aggregationTemporality: [2, 'number'] },
  NumberPoint: { startTimeUnixNano: [2, 'fixed'], timeUnixNano: [3, 'fixed'], asInt: [6, 'fixed'] },
  HistogramPoint: {
    startTimeUnixNano: [2, 'fixed'],
    timeUnixNano: [3, 'fixed'],
    count: [4, 'fixed'],
    sum: [5, 'double'],
    bucketCounts: [6, 'fixed'],
    explicitBounds: [7, 'double'],
    attributes: [9, 'KeyValue'],
  },
} as const satisfies Record<string, Readonly<Record<string, readonly [number, string]>>>

type MessageName = keyof typeof MESSAGES

const VARINT = 0
const EIGHT_BYTES = 1
const WITH_LENGTH = 2

const ENCODED: Readonly<Record<Scalar, readonly [wire: number, encode: (value: unknown) => Uint8Array]>> = {
  text: [WITH_LENGTH, (value) => Buffer.from(String(value))],
  hex: [WITH_LENGTH, (value) => Buffer.from(String(value), 'hex')],
  flag: [VARINT, (value) => varint(value === true ? 1n : 0n)],
  number: [VARINT, (value) => varint(BigInt(value as number))],
  integer: [VARINT, (value) => varint(BigInt(value as string))],
  fixed: [EIGHT_BYTES, (value) => eightBytes((view) => view.setBigInt64(0, BigInt(value as string), true))],
  double: [EIGHT_BYTES, (value) => eightBytes((view) => view.setFloat64(0, value as number, true))],
}

/** `request` is one of `otlp-json.ts`. Throws on a field that has no number here. */
export function protobufOf(request: object): Uint8Array<ArrayBuffer> {
  return message('Request', request as Fields)
}

function message(name: MessageName, fields: Fields): Uint8Array<ArrayBuffer> {
  const rows: Readonly<Record<string, readonly [number, string]>> = MESSAGES[name]
  const parts = Object.entries(fields).flatMap(([key, value]) => {
    const row = rows[key]
    if (row === undefined) throw new Error(`${name} has no field ${key}`)
    const [number, type] = row
    if (isScalar(type)) return scalar(number, type, value)
    const all = (Array.isArray(value) ? value : [value]) as readonly Fields[]
    return all.flatMap((one) => withLength(number, message(type as MessageName, one)))
  })
  return Buffer.concat(parts)
}

function isScalar(type: string): type is Scalar {
  return Object.hasOwn(ENCODED, type)
}

/** A list of numbers is packed: one field that contains them all. */
function scalar(number: number, type: Scalar, value: unknown): readonly Uint8Array[] {
  const [wire, encode] = ENCODED[type]
  if (Array.isArray(value)) return withLength(number, Buffer.concat(value.map(encode)))
  return wire === WITH_LENGTH ? withLength(number, encode(value)) : [tag(number, wire), encode(value)]
}

function withLength(number: number, bytes: Uint8Array): readonly Uint8Array[] {
  return [tag(number, WITH_LENGTH), varint(BigInt(bytes.length)), bytes]
}

function tag(number: number, wire: number): Uint8Array {
  return varint(BigInt((number << 3) | wire))
}

/** Seven bits a byte, the lowest first; a negative number as its two's complement of 64 bits. */
function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}

function eightBytes(write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(8)
  write(new DataView(bytes.buffer))
  return bytes
}
