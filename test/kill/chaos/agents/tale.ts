/** What a fake agent of chaos tells for every prompt: numbered chunks in bursts, with all that may happen between them. */
import type { Move } from '../../../fake-agent/case.ts'
import type { Chance } from '../../../series/chance.ts'

const BURSTS = 8
const OPTIONS = [
  { optionId: 'allow_once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
]

export interface Tale {
  readonly moves: readonly Move[]
  /** What it has said from beginning to end, thoughts included. */
  readonly text: string
}

/** Every chunk has words of its own: one that is missing, doubled or out of place shows. */
export function taleOf(chance: Chance, chunks: number): Tale {
  const events = [thought(1), call('c1'), plan(), question('q1'), call('c2'), thought(2), question('q2')]
  const bursts = Array.from({ length: BURSTS }, (_, at) => burst(at + 1, chance, chunks / BURSTS))
  const moves = bursts.flatMap((lines, at) => lines.concat(events[at] ?? [], { wait: chance.between(1, 12) }))
  return { moves, text: moves.map(textOf).join('') }
}

function burst(number: number, chance: Chance, times: number): readonly Move[] {
  const slow = chance.happens(0.5) ? chance.between(5, 15) : 0
  const fast: Move = { repeat: times - slow, moves: [{ chunk: `b${number}-{n} of the tale; ` }] }
  return slow === 0 ? [fast] : [fast, { repeat: slow, moves: [{ chunk: `s${number}-{n} slowly; ` }, { wait: 1 }] }]
}

function thought(number: number): readonly Move[] {
  return [{ chunk: `thought ${number}, with “quotes”, 汉字 and \n a line; `, role: 'thought' }]
}

function plan(): readonly Move[] {
  const entries = [{ content: 'tell the tale', priority: 'high', status: 'in_progress' }]
  return [{ update: { sessionUpdate: 'plan', entries } }]
}

/** Its ids are those of the prompt: no other turn has them. */
function call(name: string): readonly Move[] {
  const toolCallId = `${name} {text}`
  return [
    {
      update: { sessionUpdate: 'tool_call', toolCallId, title: `Call ${name}`, kind: 'execute', status: 'in_progress' },
    },
    { wait: 2 },
    { update: { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' } },
  ]
}

function question(name: string): readonly Move[] {
  const toolCallId = `${name} {text}`
  const toolCall = { toolCallId, title: 'May the tale go on?', kind: 'execute', status: 'pending' }
  return [
    { update: { sessionUpdate: 'tool_call', ...toolCall } },
    { permission: { toolCall, options: OPTIONS } },
    { update: { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' } },
  ]
}

function textOf(move: Move): string {
  if ('chunk' in move) return move.chunk
  if (!('repeat' in move)) return ''
  const [first] = move.moves
  if (first === undefined || !('chunk' in first)) return ''
  return Array.from({ length: move.repeat }, (_, at) => first.chunk.replace('{n}', String(at + 1))).join('')
}
