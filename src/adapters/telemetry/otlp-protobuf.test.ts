/** The bytes were written by `@opentelemetry/otlp-transformer` 0.207. */
import { expect, test } from 'vitest'
import { decodeRequest } from '../../../test/fixtures/telemetry/protobuf.ts'
import { protobufOf } from './otlp-protobuf.ts'

const TRACES =
  'Co8BChIKEAoBbhILGNT9/////////wESeQoICgZwYXJsZXkSbQoQERERERERERERERERERERERIIIiIiIiIiIiIiCDMzMzMzMzMzKgV3w7ZyazADOQDKmjsAAAAAQQCUNXcAAAAAShEKBHBhcnQSCSEAAAAAAADgP0oTCgRsaXN0EgsqCQoDCgFiCgIQAXoCGAI='
const METRICS =
  'CrQBCgASrwEKCAoGcGFybGV5ElkKAXQaAXNKUQpNEQEAAAAAAAAAGQIAAAAAAAAAIQMAAAAAAAAAKQAAAAAAABpAMhACAAAAAAAAAAEAAAAAAAAAOggAAAAAAAD4P0oLCgR0b29sEgMKAWEQAhIdCgFnGgJCeSoUChIZAgAAAAAAAAAxAAAAAAAAAAASKQoBYxoBMTohChsRAQAAAAAAAAAZAgAAAAAAAAAxBwAAAAAAAAAQAhgB'

test.each([
  ['/v1/traces', TRACES],
  ['/v1/metrics', METRICS],
])('a request to %s is what the official exporter writes', (path, text) => {
  const read = decodeRequest(path, Buffer.from(text, 'base64'))
  expect(Buffer.from(protobufOf(read)).toString('base64')).toBe(text)
})

test('a field without a number is an error, not left out', () => {
  expect(() => protobufOf({ resourceSpans: [{ events: [] }] })).toThrow('ResourceSpans has no field events')
})
