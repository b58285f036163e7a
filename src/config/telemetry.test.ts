import { expect, test } from 'vitest'
import { telemetryChoice, wantsTelemetry } from './telemetry.ts'

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318/base/'

test('an endpoint enables telemetry, and without it there is none', () => {
  expect([{}, { OTEL_EXPORTER_OTLP_ENDPOINT }].map(wantsTelemetry)).toEqual([false, true])
  expect(wantsTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBe(false)
  expect(telemetryChoice({ OTEL_EXPORTER_OTLP_ENDPOINT })).toEqual({
    settings: {
      traces: 'http://127.0.0.1:4318/base/v1/traces',
      metrics: 'http://127.0.0.1:4318/base/v1/metrics',
      protocol: 'http/protobuf',
      headers: {},
      serviceName: 'parley',
      content: false,
    },
  })
})

test.each([
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'secret' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'secret without an equals sign' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz-secret' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'secret' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://me:secret@host' },
  { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
])('%o is refused with a reason that does not quote it', (more) => {
  const choice = telemetryChoice({ OTEL_EXPORTER_OTLP_ENDPOINT, ...more })
  expect(choice).toEqual({ reason: expect.stringMatching(/^OTEL_(?!.*secret)/u) })
})

test('both HTTP encodings can be chosen, and gRPC is refused with what to use instead', () => {
  const chosen = (protocol: string) =>
    telemetryChoice({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: protocol })
  for (const protocol of ['http/json', 'http/protobuf'])
    expect(chosen(protocol)).toMatchObject({ settings: { protocol } })
  expect(chosen('grpc')).toEqual({ reason: expect.stringContaining('use http/protobuf') })
})
