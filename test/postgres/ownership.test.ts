/** One node of a cluster serves at a time, whichever dies, hangs or loses touch with the database. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/adapters/clock.ts'
import { claimingJournal } from '../../src/adapters/journal/postgres/ownership/claiming-journal.ts'
import {
  type PostgresOwnership,
  acquirePostgresOwnership,
} from '../../src/adapters/journal/postgres/ownership/postgres-ownership.ts'
import { openPostgresJournal } from '../../src/adapters/journal/postgres/postgres-journal.ts'
import { initCluster } from '../../src/adapters/journal/postgres/tables/init.ts'
import type { ImportingJournal } from '../../src/ports/journal.ts'
import { appendOf, entriesOf, wide } from '../contracts/journal-words.ts'
import { ownershipContract } from '../contracts/ownership.ts'
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

interface Acquire {
  readonly url?: string
  readonly boot?: string
  readonly waits?: () => void
}

function acquire({ url = server.url, boot = systemClock.id(), waits }: Acquire = {}): Promise<PostgresOwnership> {
  const record = { name: 'here', pid: process.pid, version: '0', listen: [], startedAt: 0 }
  return acquirePostgresOwnership({ url, schema, boot, clock: systemClock, record, ...(waits && { waits }) })
}

describe('the place of the node that serves', () => {
  ownershipContract(async () => {
    const boots = new Map<object, string>()
    return {
      async acquire() {
        const boot = systemClock.id()
        const ownership = await acquire({ boot })
        boots.set(ownership, boot)
        return ownership
      },
      async takeAway(owner) {
        await server.query(`UPDATE ${schema}.node SET dead = true WHERE boot = $1`, [boots.get(owner)])
      },
      clear: () => Promise.resolve(),
    }
  })
})

async function journalOf(boot: string, ownership: PostgresOwnership, url = server.url): Promise<ImportingJournal> {
  const given = { urls: [url], schema, boot, unsafe: false, report: () => undefined }
  return claimingJournal(await openPostgresJournal({ ...given, clock: systemClock }), ownership)
}

test('a node that hangs is counted out, the one that waits goes on with its sessions, and the first one is told', async () => {
  const proxy = await new DatabaseProxy(server.directory).open()
  const boots = [systemClock.id(), systemClock.id()] as const
  const first = await acquire({ url: proxy.url, boot: boots[0] })
  const before = await journalOf(boots[0], first)
  await before.append(appendOf('s', 0, 2))
  let waited = 0
  const acquiring = acquire({ boot: boots[1], waits: () => (waited += 1) })
  await expect.poll(() => waited).toBe(1)
  // Its beats come to nothing; its journal still reaches the database.
  proxy.isStalled = true
  const second = await acquiring
  expect(first.lost.aborted).toBe(false)
  const after = await journalOf(boots[1], second)
  expect((await after.head('s'))?.row.lastSeq).toBe(2)
  await after.append(appendOf('s', 2, 1))
  await expect(before.append(appendOf('s', 2, 1))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' })
  // Stored, for nobody has claimed that name; but not acknowledged by a node that may be counted out.
  let isAcknowledged = false
  const refused = before.append(appendOf('new', 0, 1)).then(
    () => (isAcknowledged = true),
    (error: unknown) => error,
  )
  proxy.isStalled = false
  await expect.poll(() => first.lost.aborted).toBe(true)
  expect(await refused).toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
  expect(isAcknowledged).toBe(false)
  expect(await after.page('s', 0, wide)).toEqual(entriesOf('s', 0, 3))
  await Promise.all([before.close(), after.close(), first.release(), second.release()])
  await proxy.close()
})

test('while the database is away nobody is counted out', async () => {
  const proxy = await new DatabaseProxy(server.directory).open()
  const owner = await acquire()
  let waited = 0
  const acquiring = acquire({ url: proxy.url, waits: () => (waited += 1) })
  await expect.poll(() => waited).toBe(1)
  await server.stop('SIGQUIT')
  // More beats than a node is counted out by come to nothing.
  const before = proxy.connections
  await expect.poll(() => proxy.connections - before).toBeGreaterThan(6)
  await server.run()
  await owner.certain()
  expect(owner.lost.aborted).toBe(false)
  await owner.release()
  await (await acquiring).release()
  await proxy.close()
})

test('what waits for certainty when the node leaves is refused, and so is what asks later', async () => {
  const proxy = await new DatabaseProxy(server.directory).open()
  const owner = await acquire({ url: proxy.url })
  proxy.isStalled = true
  await expect.poll(() => isSettled(owner.certain())).toBe(false)
  const waiting = owner.certain().catch((error: unknown) => error)
  await owner.release()
  expect(await waiting).toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
  await expect(owner.certain()).rejects.toMatchObject({ code: 'CLUSTER_UNREACHABLE' })
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

test('a node that leaves in order is followed at once', async () => {
  const owner = await acquire()
  let waited = 0
  const acquiring = acquire({ waits: () => (waited += 1) })
  await expect.poll(() => waited).toBe(1)
  await owner.release()
  const next = await acquiring
  await next.release()
  expect(await server.query(`SELECT * FROM ${schema}.node`)).toEqual([])
})
