/** One failover under load: the primary is killed with all its processes, and its standby goes on. */
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../../src/adapters/clock.ts'
import { openPostgresJournal } from '../../../src/adapters/journal/postgres/postgres-journal.ts'
import { initCluster } from '../../../src/adapters/journal/postgres/tables/init.ts'
import type { Replicas } from '../../postgres/replicas.ts'
import { chanceOf } from '../../series/chance.ts'
import { FaultyProxy } from '../../wire/faulty-proxy.ts'
import { type Compared, Load } from './load.ts'

const SESSIONS = 50
/** Appends of each session before the primary dies, while an asynchronous standby stands still, and after that. */
const BEFORE = 10
const BEHIND = 60
const AFTER = 5

export type Standby = 'synchronous' | 'asynchronous'

export interface FailoverResult extends Compared {
  readonly seed: number
  /** From the kill until the next acknowledgement. */
  readonly pauseMs: number
}

/** An asynchronous standby stands still for a moment before the primary dies. */
export async function failOver(replicas: Replicas, seed: number, standby: Standby): Promise<FailoverResult> {
  const schema = `failover_${seed}`
  const proxy = await FaultyProxy.before(() => replicas.socket, chanceOf(seed))
  const urls = [`postgres://parley@127.0.0.1:${proxy.port}/postgres`]
  if (standby === 'asynchronous') await replicas.loosen()
  await initCluster({ urls, schema }, systemClock.id())
  const given = { urls, schema, boot: systemClock.id(), unsafe: false, clock: systemClock }
  const journal = await openPostgresJournal({ ...given, report: () => undefined })
  try {
    const load = new Load(journal, SESSIONS)
    await load.more(BEFORE)
    if (standby === 'asynchronous') {
      replicas.signalStandby('SIGSTOP')
      await load.more(BEHIND)
    }
    await sleep(chanceOf(seed).between(0, 50))
    const killed = performance.now()
    const whole = replicas.failOver('dies')
    await load.more(AFTER)
    await whole
    return { seed, ...(await load.end()), pauseMs: load.firstAfter(killed) }
  } finally {
    await journal.close()
    proxy.close()
    await replicas.whole()
  }
}

/** What the run broke, a sentence each. */
export function findingsIn(
  { lost, wrong, losers, named, errors }: FailoverResult,
  standby: Standby,
): readonly string[] {
  const isNamed = JSON.stringify(losers.toSorted()) === JSON.stringify(named)
  return [
    ...(standby === 'synchronous' && lost > 0 ? [`${lost} acknowledged entries are gone`] : []),
    ...(standby === 'asynchronous' && lost === 0 ? ['nothing was lost, so nothing is shown'] : []),
    ...wrong.map((id) => `session ${id} has other entries than were appended`),
    ...(isNamed ? [] : [`lost: ${losers.join(' ')}; named: ${named.join(' ')}`]),
    ...new Set(errors),
  ]
}
