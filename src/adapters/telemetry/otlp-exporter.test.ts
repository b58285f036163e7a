import { expect, onTestFinished, test } from 'vitest'
import { startCollector } from '../../../test/fixtures/telemetry/collector.ts'
import { TestClock } from '../../../test/sim/clock.ts'
import { OtlpExporter } from './otlp-exporter.ts'

async function exporting(protocol: 'http/json' | 'http/protobuf' = 'http/protobuf') {
  const collector = await startCollector()
  onTestFinished(() => collector.close())
  const notes: string[] = []
  const clock = new TestClock()
  const exporter = new OtlpExporter({
    traces: `${collector.url}/v1/traces`,
    metrics: `${collector.url}/v1/metrics`,
    protocol,
    headers: {},
    resource: { 'service.name': 'parley' },
    clock,
    note: (sentence) => notes.push(sentence),
  })
  const add = (name: string) =>
    exporter.span({
      name,
      traceId: '1'.repeat(32),
      spanId: '2'.repeat(16),
      kind: 'internal',
      startedAt: 1_000,
      endedAt: 1_700_000_000_000.5,
      attributes: { text: 'a', whole: 300, below: -1, part: 0.5, is: true, list: ['b'] },
    })
  return { collector, notes, clock, exporter, add }
}

test.each(['http/json', 'http/protobuf'] as const)(
  'values keep their types, and times their digits: %s',
  async (way) => {
    const { collector, exporter, add } = await exporting(way)
    add('work')
    await exporter.close()
    const times = { startTimeUnixNano: '1000000000', endTimeUnixNano: '1700000000000500000' }
    const attributes = [
      { key: 'text', value: { stringValue: 'a' } },
      { key: 'whole', value: { intValue: '300' } },
      { key: 'below', value: { intValue: '-1' } },
      { key: 'part', value: { doubleValue: 0.5 } },
      { key: 'is', value: { boolValue: true } },
      { key: 'list', value: { arrayValue: { values: [{ stringValue: 'b' }] } } },
    ]
    expect(collector.spans()).toMatchObject([{ name: 'work', ...times, attributes }])
  },
)

test('the queue is bounded, and dropped items are counted', async () => {
  const { collector, exporter, add } = await exporting()
  for (let count = 0; count < 2_050; count += 1) add('work')
  await exporter.close()
  expect(exporter.dropped).toBe(2)
  expect(collector.spans()).toHaveLength(2_048)
  add('too late')
  expect(exporter.dropped).toBe(3)
})

test('spans are sent in the background, and again after a collector failed, which is logged once', async () => {
  const { collector, notes, clock, exporter, add } = await exporting()
  const requests = async (count: number): Promise<void> => {
    while (collector.received.length < count) await clock.advance(5_000)
  }
  collector.status = 503
  add('work')
  await requests(2)
  expect(notes).toHaveLength(1)
  collector.status = 200
  await exporter.close()
  expect(notes).toEqual([
    'the collector of telemetry does not take what it is sent',
    'the collector of telemetry works again',
  ])
  expect(exporter.dropped).toBe(0)
})

test('a collector that never answers delays the end for a bounded time', async () => {
  const { collector, clock, exporter, add } = await exporting()
  collector.status = 0
  add('work')
  const closed = exporter.close()
  while (collector.received.length === 0) await clock.advance(0)
  await clock.advance(2_000)
  await closed
  expect(exporter.dropped).toBe(1)
})

test('spans that a collector refuses are not sent again', async () => {
  const { collector, exporter, add } = await exporting()
  collector.status = 400
  add('work')
  await exporter.close()
  expect(exporter.dropped).toBe(1)
})

test('values of a histogram fall into buckets, and further sets of attributes are counted together', async () => {
  const { collector, exporter } = await exporting()
  const histogram = { name: 'time', unit: 's', bounds: [1, 2] }
  for (const value of [0.5, 1, 2, 3]) exporter.record(histogram, value, { tool: 'a' })
  for (let count = 0; count < 300; count += 1) exporter.record(histogram, 1, { tool: `t${count}` })
  await exporter.close()
  const body = collector.received.find(({ path }) => path === '/v1/metrics')?.body ?? ''
  expect(body).toContain('"count":"4","sum":6.5,"bucketCounts":["2","1","1"],"explicitBounds":[1,2]')
  expect(body).toContain('"otel.metric.overflow","value":{"boolValue":true}}],"count":"45"')
})
