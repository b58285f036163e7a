/** What befalls a cluster: its nodes, its database, and the ways between them. */
import { pause, signal } from '../../fixtures/process/running.ts'
import type { Chance } from '../../series/chance.ts'
import type { ChaosNode } from './node.ts'
import type { ClusterDeed } from './plan.ts'
import type { Stage } from './stage.ts'
import type { Tale } from './tale.ts'

export interface ClusterHarm {
  readonly stage: Stage
  readonly tale: Tale
  /** The node that has the session. */
  readonly owner: ChaosNode
  /** One of those that do not. */
  readonly other: ChaosNode
  readonly chance: Chance
  readonly standMs: number
  readonly bin: string
}

/** Others begin with what a node had after 3.8 to 5 s. */
const COUNTED_OUT_MS = 7_500

const HARM: Readonly<Record<ClusterDeed, (harm: ClusterHarm) => unknown>> = {
  'kill the owner': ({ owner }) => owner.signal('SIGKILL'),
  'kill another node': ({ other }) => other.signal('SIGKILL'),
  'stop the owner in order': ({ owner }) => owner.signal('SIGTERM'),
  'pause the owner until it is counted out': ({ owner }) => stand(owner, COUNTED_OUT_MS),
  'pause the owner for a moment': ({ owner, standMs }) => stand(owner, standMs),
  'pause another node for a moment': ({ other, standMs }) => stand(other, standMs),
  'move the session': ({ stage, tale, other, bin }) =>
    stage.command(['cluster', 'move', tale.sessionId, other.name], bin),
  async 'drain the owner'({ stage, owner, bin }) {
    const { pid } = owner
    await stage.command(['cluster', 'drain', owner.name], bin)
    if (owner.pid === pid) owner.signal('SIGTERM')
  },
  'cut the owner from the database until it is counted out': ({ owner }) => owner.toDatabase.shut(COUNTED_OUT_MS),
  'cut the owner from the database for a moment': ({ owner, standMs }) => owner.toDatabase.shut(standMs),
  'freeze the way of the owner to the database': ({ owner, chance, standMs }) =>
    owner.toDatabase.freeze(chance.happens(0.3) ? COUNTED_OUT_MS : standMs),
  'break the way of the owner to the database at any byte': ({ owner, standMs }) => owner.toDatabase.fret(standMs),
  'cut the owner from the other nodes': ({ owner, chance, standMs }) =>
    owner.fromNodes.shut(chance.happens(0.3) ? COUNTED_OUT_MS : standMs),
  'freeze the way of the others to the owner': ({ owner, chance, standMs }) =>
    owner.fromNodes.freeze(chance.happens(0.3) ? COUNTED_OUT_MS : standMs),
  'break the way of the others to the owner at any byte': ({ owner, standMs }) => owner.fromNodes.fret(standMs),
  'fail over to the standby': ({ stage }) => failOver(stage, 'dies'),
  'fail over while the old primary goes on': ({ stage }) => failOver(stage, 'goes on'),
  'stop the standby for a while': ({ stage, standMs }) => pause(stage.replicas.standby?.processes() ?? [], standMs),
  'fill the disk of the database': ({ stage, standMs }) => stage.replicas.fillDisk(standMs),
  'end the connections of the database': ({ stage }) => ofAllBackends(stage, 'pg_terminate_backend'),
  'cancel what the database does': ({ stage }) => ofAllBackends(stage, 'pg_cancel_backend'),
  'cut a client': ({ tale }) => tale.cut(),
  'kill the tools': ({ stage }) => stage.tools().forEach((pid) => signal(pid, 'SIGKILL')),
}

/** Resolves when it is over. */
export async function befall(deed: ClusterDeed, harm: ClusterHarm): Promise<void> {
  await HARM[deed](harm)
}

async function stand({ pid }: ChaosNode, ms: number): Promise<void> {
  if (pid !== undefined) await pause([pid], ms)
}

/** Connections to the old primary break with it, or when it is gone; whoever connects comes to the new one. */
async function failOver({ replicas }: Stage, old: 'dies' | 'goes on'): Promise<void> {
  await replicas.failOver(old)
}

async function ofAllBackends({ replicas }: Stage, call: 'pg_terminate_backend' | 'pg_cancel_backend'): Promise<void> {
  await replicas.primary
    .query(`SELECT ${call}(pid) FROM pg_stat_activity WHERE application_name = 'parley'`)
    // The database may be failing over.
    .catch(() => undefined)
}
