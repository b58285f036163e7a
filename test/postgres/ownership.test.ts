/** Whose a session is: of the nodes that live one, whichever dies, hangs or loses touch with the database. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/adapters/clock.ts'
import { ChangesElsewhere } from '../../src/adapters/journal/postgres/ownership/changes-elsewhere.ts'
import { claimingJournal } from '../../src/adapters/journal/postgres/ownership/claiming-journal.ts'
import {
  type PostgresOwnership,
  acquirePostgresOwnership,
} from '../../src/adapters/journal/postgres/ownership/postgres-ownership.ts'
import { SessionClaims } from '../../src/adapters/journal/postgres/ownership/session-claims.ts'
import { type PostgresJournal, openPostgresJournal } from '../../src/adapters/journal/postgres/postgres-journal.ts'
import { initCluster } from '../../src/adapters/journal/postgres/tables/init.ts'
import type { ImportingJournal } from '../../src/ports/journal.ts'
import { appendOf, entriesOf, wide } from '../contracts/journal-words.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { DatabaseProxy } from './proxy.ts'
import { PostgresServer } from './server.ts'

let server: PostgresServer
let schema: string

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.close())

beforeEach(async () => {
  schema = server.schema()
  await initCluster({ urls: [server.url], schema }, systemClock.id())
})

/** A node in this process. */
interface Node {
  readonly boot: string
  readonly ownership: PostgresOwnership
  readonly stored: PostgresJournal
  readonly claims: SessionClaims
  /** As its sessions have it. */
  readonly journal: ImportingJournal
  /** The nodes whose sessions it may set free. */
  readonly buried: ReadonlySet<string>
  /** What its log has of a database that acknowledges nothing. */
  readonly silences: readonly unknown[]
}

const nodes = new PerTest<Node>(async (opened) => {
  for (const { stored, ownership } of opened) {
    await stored.close()
    await ownership.release()
  }
})
nodes.closeAfterEach()

/** `beats`: where it reaches the database with its beats; its journal reaches it anyway. */
async function join(name: string, beats = server.url): Promise<Node> {
  const boot = systemClock.id()
  const shared = { schema, boot, clock: systemClock }
  const report = (): void => undefined
  const buried = new Set<string>()
  const silences: unknown[] = []
  const stored = await openPostgresJournal({ ...shared, urls: [server.url], unsafe: false, report })
  const facts = { pid: process.pid, version: '0', listen: [], address: '', startedAt: 0 }
  const record = { name, ...facts, sessions: 0, working: 0, isDraining: false }
  const ownership = await acquirePostgresOwnership({
    ...shared,
    url: beats,
    record: () => record,
    renewed: () => undefined,
    silent: (error) => silences.push(error),
    buried: (dead) => buried.add(dead),
  })
  const claims = new SessionClaims(stored, { nodes: ownership, takes: () => true })
  const elsewhere = new ChangesElsewhere(stored, systemClock)
  const node = {
    boot,
    ownership,
    stored,
    claims,
    buried,
    silences,
    journal: claimingJournal(stored, { ownership, claims, elsewhere }),
  }
  nodes.add(node)
  return node
}

test('a session is of the node that made it, and no other one claims it while that one lives', async () => {
  const [one, two] = await Promise.all([join('one'), join('two')])
  await one.journal.append(appendOf('s', 0, 2))
  expect(await one.claims.locate('s')).toEqual({ kind: 'ours' })
  expect(await two.claims.locate('s')).toMatchObject({ kind: 'elsewhere', node: { name: 'one' } })
  await expect(two.claims.claim('s')).rejects.toMatchObject({ code: 'SESSION_ELSEWHERE', details: { node: 'one' } })
  await expect(two.journal.delete('s')).rejects.toMatchObject({ code: 'SESSION_ELSEWHERE' })
  await expect(two.journal.append(appendOf('s', 2, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
  await one.journal.append(appendOf('s', 2, 1))
  expect(await two.claims.locate('absent')).toEqual({ kind: 'absent' })
})

test('of many nodes that claim a session that is free one gets it', async () => {
  const first = await join('first')
  await first.journal.append(appendOf('s', 0, 1))
  const others = await Promise.all(['a', 'b', 'c', 'd'].map((name) => join(name)))
  await first.stored.disown(first.boot)
  const tries = await Promise.allSettled(others.map(({ claims }) => claims.claim('s')))
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  await expect(first.journal.append(appendOf('s', 1, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
})

test('a node that hangs is counted out, another one goes on with its sessions, and the first one hears of it', async () => {
  const proxy = await new DatabaseProxy(server.directory).open()
  const [first, second] = [await join('first', proxy.url), await join('second')]
  const lost: string[] = []
  first.claims.whenLost((id) => lost.push(id))
  const leases: number[] = []
  first.claims.whenRenewed((ms) => leases.push(ms))
  expect(leases).toEqual([expect.toSatisfy((ms: number) => ms > 0 && ms <= 2_500)])
  await first.journal.append(appendOf('s', 0, 2))
  await first.journal.append(appendOf('deleted', 0, 1))
  await first.journal.delete('deleted')
  await expect(first.journal.append(appendOf('deleted', 1, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
  // Another node has counted this one out, and has died before its sessions were free.
  await server.query(
    `INSERT INTO ${schema}.node (name, boot, beat, dead, record) VALUES ('old', 'old-boot', 7, true, '{}')`,
  )
  proxy.isStalled = true
  await expect
    .poll(() =>
      second.claims.claim('s').then(
        () => 'claimed',
        () => 'refused',
      ),
    )
    .toBe('claimed')
  expect(first.ownership.lost.aborted).toBe(false)
  await expect.poll(() => second.buried).toEqual(new Set([first.boot, 'old-boot']))
  await second.journal.append(appendOf('s', 2, 1))
  await expect(first.journal.append(appendOf('s', 2, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
  expect(lost).toEqual(['s'])
  // Stored, for nobody has claimed that name; but not acknowledged by a node that may be counted out.
  let isAcknowledged = false
  const refused = first.journal.append(appendOf('new', 0, 1)).then(
    () => (isAcknowledged = true),
    (error: unknown) => error,
  )
  proxy.isStalled = false
  await expect.poll(() => first.ownership.lost.aborted).toBe(true)
  expect(await refused).toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
  expect(isAcknowledged).toBe(false)
  expect(await second.journal.page('s', 0, wide)).toEqual(entriesOf('s', 0, 3))
  await proxy.close()
})

test('while the database is away no node is counted out', async () => {
  const proxy = await new DatabaseProxy(server.directory).open()
  const [one, two] = [await join('one'), await join('two', proxy.url)]
  await one.journal.append(appendOf('s', 0, 1))
  await server.stop('SIGQUIT')
  // More beats than a node is counted out by come to nothing.
  const before = proxy.connections
  await expect.poll(() => proxy.connections - before).toBeGreaterThan(6)
  await server.run()
  await Promise.all([one.ownership.certain(), two.ownership.certain()])
  expect([one.ownership.lost.aborted, two.ownership.lost.aborted]).toEqual([false, false])
  expect(await two.claims.locate('s')).toMatchObject({ kind: 'elsewhere' })
  const silence = { code: 'CLUSTER_UNREACHABLE', message: expect.stringContaining('acknowledged nothing') as string }
  for (const { silences } of [one, two]) expect(silences).toMatchObject([silence])
  await proxy.close()
})

test('a failover that takes back some beats of a node counts it not out', async () => {
  const { boot, ownership } = await join('one')
  const beat = async () =>
    Number((await server.query(`SELECT beat FROM ${schema}.node WHERE boot = $1`, [boot]))[0]?.['beat'])
  await expect.poll(beat).toBeGreaterThan(2)
  await server.query(`UPDATE ${schema}.node SET beat = 1 WHERE boot = $1`, [boot])
  await expect.poll(beat).toBeGreaterThan(2)
  await ownership.certain()
  expect(ownership.lost.aborted).toBe(false)
})

test('what waits for certainty when the node leaves is refused, and so is what asks later', async () => {
  const proxy = await new DatabaseProxy(server.directory).open()
  const { ownership } = await join('one', proxy.url)
  proxy.isStalled = true
  await expect.poll(() => isSettled(ownership.certain())).toBe(false)
  const waiting = ownership.certain().catch((error: unknown) => error)
  await ownership.release()
  expect(await waiting).toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
  await expect(ownership.certain()).rejects.toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
  await proxy.close()
})

async function isSettled(promise: Promise<void>): Promise<boolean> {
  let isOver = false
  void promise.then(
    () => (isOver = true),
    () => undefined,
  )
  await systemClock.nextTick()
  return isOver
}

test('a node that leaves in order leaves no row, and what it owned can be claimed at once', async () => {
  const [one, two] = await Promise.all([join('one'), join('two')])
  await one.journal.append(appendOf('s', 0, 1))
  await one.stored.disown(one.boot)
  await one.ownership.release()
  await two.claims.claim('s')
  const rows = await server.query(`SELECT boot FROM ${schema}.node`)
  expect(rows).toEqual([{ boot: two.boot }])
})
