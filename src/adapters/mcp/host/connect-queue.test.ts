/** Sessions with more MCP servers than are started at once. */
import { expect, test } from 'vitest'
import { openBench, stdioServer, type Bench } from '../../../../test/fixtures/mcp/servers.ts'
import { PerTest } from '../../../../test/fixtures/process/per-test.ts'
import { until } from '../../../../test/fixtures/process/running.ts'
import type { StartedServer } from './mcp-types.ts'

const signal = new AbortController().signal
const benches = new PerTest<Bench>(async (opened) => {
  await Promise.all(opened.map((bench) => bench.close()))
})
benches.closeAfterEach()

function bench() {
  const started: (StartedServer & { readonly at: number })[] = []
  const note = (one: StartedServer) => void started.push({ ...one, at: performance.now() })
  const made = openBench({ limits: { graceMs: 100 }, started: note })
  benches.add(made)
  return { made, started }
}

/** They take their input and never answer. */
function silent(count: number) {
  const sleeps = { type: 'stdio', command: 'sleep', args: ['1000'], env: {} } as const
  return Array.from({ length: count }, (_, n) => ({ ...sleeps, name: `silent${n}` }))
}

test.concurrent('the servers of a session are started a few at a time, and all of them in the end, even if they never answer', async () => {
  const { made, started } = bench()
  const since = performance.now()
  made.open(silent(20), 'crowded')
  // One that never answers is started once more after a while.
  await until(() => new Set(started.map(({ server }) => server)).size === 20)
  // The ninth may begin when one of the first eight has had its half second.
  expect((started[8]?.at ?? 0) - since).toBeGreaterThan(500)
})

test.concurrent('the server of another session starts before the rest of a session with many servers', async () => {
  const { made, started } = bench()
  made.open(silent(40), 'crowded')
  await until(() => started.length > 0)
  const other = made.open([stdioServer('honest')], 'other')
  const place = () => started.findIndex(({ session }) => session === 'other')
  await until(() => place() !== -1)
  // Sessions take turns.
  expect(place()).toBeLessThan(40)
  expect((await other.ready(60_000, signal)).servers).toMatchObject([{ state: 'ready' }])
})

test.concurrent('a session that is closed starts none of its queued servers', async () => {
  const { made, started } = bench()
  const crowded = made.open(silent(40), 'crowded')
  await until(() => started.length > 0)
  await crowded.close()
  const before = started.length
  const other = made.open([stdioServer('honest')], 'other')
  await other.ready(60_000, signal)
  expect(new Set(started.slice(before).map(({ session }) => session))).toEqual(new Set(['other']))
})
