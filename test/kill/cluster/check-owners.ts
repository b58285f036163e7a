/** One owner at a time: no row after one of a later owner, and no effect of a process once another one has claimed the session. */
import { existsSync, readFileSync } from 'node:fs'
import type { Finding } from '../evidence.ts'
import type { Claim, OwnedRow } from './stage.ts'

/** Something that a tool did. */
export interface Signed {
  /** The node that had started the tool. */
  readonly parent: number
  /** Milliseconds of the clock. */
  readonly at: number
}

/** What tools did, in calls and in the ticks of long ones. */
export function readSigned(path: string): readonly Signed[] {
  return [path, `${path}.ticks`].flatMap((file) => {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Signed)
  })
}

export function checkEpochs(journal: readonly OwnedRow[]): readonly Finding[] {
  const stale = journal.find(({ epoch }, index) => epoch < (journal[index - 1]?.epoch ?? 0))
  return stale === undefined
    ? []
    : [{ kind: 'wrong', what: `seq ${stale.seq} is of epoch ${stale.epoch}, and follows one of a later epoch` }]
}

/** `claims` in their order. */
export function checkOwners(claims: readonly Claim[], effects: readonly Signed[]): readonly Finding[] {
  const late = effects.flatMap(({ parent, at }): readonly number[] => {
    const owner = claims.findLast((claim) => claim.at <= at && claim.pid !== undefined)
    return owner === undefined || owner.pid === parent ? [] : [at - owner.at]
  })
  if (late.length === 0) return []
  const most = Math.max(...late).toFixed(0)
  return [{ kind: 'wrong', what: `${late.length} effects of a node up to ${most} ms after another one had claimed` }]
}
