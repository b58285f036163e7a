/** What the same turn costs the server when fifty pages look at it instead of one. The clients are the page's own. */
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type Client, connect, overWebSocket } from '../../../src/client.ts'
import type { PageStage } from '../../../test/page/stage.ts'
import { processorMs } from '../../proc.ts'
import { type Row, ms, times } from '../../row.ts'

const PAGES = 50
const GOAL = 1.5
const NOTICES = ['turn', 'queue', 'presence', 'mcp', 'agent', 'resolved', 'sessions', 'alive'] as const

export async function pages(stage: PageStage, chunks: number): Promise<Row> {
  // Two at a time, each millisecond.
  stage.server.play([
    ...Array.from({ length: chunks }, (_one, n) => ({ chunk: `word ${n} `, everyMs: n % 2 })),
    { chunk: 'The end.' },
  ])
  const one = await costOf(stage, 1)
  const many = await costOf(stage, PAGES)
  return {
    what: `the same turn before ${PAGES} pages, processor time of the server`,
    measured: times(many / one),
    goal: `≤ ${times(GOAL)}`,
    floor: `${ms(many)} instead of ${ms(one)}`,
    ok: many <= GOAL * one,
  }
}

async function costOf(stage: PageStage, count: number): Promise<number> {
  const sessionId = await stage.server.newSession()
  const readers = await Promise.all(Array.from({ length: count }, () => reader(stage, sessionId)))
  const [first] = readers
  // What opening costs is not asked.
  await pause(1_000)
  const before = processorMs(stage.server.pid)
  await first?.client.prompt(sessionId, 'Go.')
  await Promise.all(readers.map(({ hasEnd }) => hasEnd))
  const cost = processorMs(stage.server.pid) - before
  for (const { client } of readers) client.close()
  return cost
}

async function reader(
  { server }: PageStage,
  sessionId: string,
): Promise<{ readonly client: Client; readonly hasEnd: Promise<void> }> {
  let ended: () => void = () => undefined
  const hasEnd = new Promise<void>((resolve) => (ended = resolve))
  const open = (url: string, protocols: readonly string[]) => new WebSocket(url, [...protocols])
  const client = await connect(
    overWebSocket(`ws://127.0.0.1:${server.port}/acp`, { token: server.token('admin'), open }),
    {
      updated: ({ update }) => {
        if (JSON.stringify(update).includes('The end.')) ended()
      },
      ask: () => new Promise(() => undefined),
    },
    { info: { name: 'bench', title: 'Bench', version: '1' }, notices: NOTICES },
  )
  await client.resumeSession({ sessionId, cwd: server.work })
  return { client, hasEnd }
}
