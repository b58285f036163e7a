/** Everything that can go wrong, in as few runs as that takes; when it does is chance as in any run. */
import { type ChaosPlan, type Condition, type Deed, type Moment, chaosOf } from './plan.ts'

interface Part {
  readonly condition: Condition
  readonly moments: readonly (readonly [message: Moment['message'], ...deeds: Deed[]])[]
}

const WELL: Condition = { kind: 'well' }

const parts: readonly Part[] = [
  {
    condition: WELL,
    moments: [
      [40, 'move the clock', 'kill a relay', 'cut the raw client'],
      [200, 'kill the server', 'break the network at any byte'],
    ],
  },
  {
    condition: { kind: 'dies at a point', faults: [{ point: 'journal.rows.written', action: 'kill', nth: 30 }] },
    moments: [[100, 'stop the follower for a while', 'kill the tools', 'freeze the network for a while']],
  },
  {
    condition: {
      kind: 'has a slow disk',
      faults: [{ point: 'journal.rows.written', action: 'delay', nth: 20, ms: 5_000 }],
    },
    moments: [[150, 'stop a relay for a while', 'end the journal thread', 'cut the network']],
  },
  { condition: { kind: 'has few descriptors' }, moments: [[150, 'kill the follower', 'cut the raw client']] },
  { condition: { kind: 'has a small disk' }, moments: [[120, 'kill the runner', 'stop the server for a while']] },
  { condition: { kind: 'has a directory that turns read-only' }, moments: [[250, 'garbage after the log']] },
  { condition: { kind: 'has files that turn read-only' }, moments: [['a question', 'kill the server']] },
  { condition: WELL, moments: [[100, 'cut the log short', 'kill the tools']] },
  { condition: WELL, moments: [[300, 'cut the file short']] },
]

export function everything(seed: number): readonly ChaosPlan[] {
  return parts.map(({ condition, moments }, index) => {
    const inOrder = moments.map(([message, ...deeds]): Moment => ({ message, afterMs: index, deeds }))
    return Object.assign(chaosOf(seed + index), { condition, moments: inOrder })
  })
}
