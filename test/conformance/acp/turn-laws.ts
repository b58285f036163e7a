/** Laws about turns: what must be over when a prompt is answered. */
import type { Message } from '../../e2e/message.ts'
import { type Entry, type Transcript, fieldsOf } from './record.ts'

interface Turn {
  /** Where its answer stands among the entries; undefined while it runs. */
  readonly end: number | undefined
  readonly begin: number
  readonly sessionId: unknown
  readonly isCancelled: boolean
}

function turnsOf({ entries }: Transcript): readonly Turn[] {
  return entries.flatMap(({ from, message }, begin) => {
    if (from === 'agent' || message.method !== 'session/prompt') return []
    const end = entries.findIndex((entry, index) => index > begin && answers(entry, message.id))
    const isCancelled = entries[end]?.message.result?.['stopReason'] === 'cancelled'
    return [{ begin, end: end === -1 ? undefined : end, sessionId: message.params?.['sessionId'], isCancelled }]
  })
}

function answers({ from, message }: Entry, id: Message['id']): boolean {
  return from === 'agent' && message.method === undefined && message.id === id
}

/** It was taken back while that one ran: its answer ends no turn. */
function waitedBehind(turn: Turn, other: Turn): boolean {
  const { begin, end = Infinity, sessionId, isCancelled } = turn
  return isCancelled && other.sessionId === sessionId && other.begin < begin && (other.end ?? Infinity) > end
}

/** Chunks, tool calls and plans belong to turns; anything else may come whenever it is news. */
const OF_TURNS = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
])

export function afterTheResponse(transcript: Transcript): readonly string[] {
  if (transcript.shared) return []
  const turns = turnsOf(transcript)
  return transcript.entries.flatMap(({ from, message }, place) => {
    if (from === 'client' || message.method !== 'session/update') return []
    const { sessionId } = message.params ?? {}
    const kind = String(fieldsOf(message.params?.['update'])['sessionUpdate'])
    const ended = turns.some((turn) => turn.sessionId === sessionId && turn.end !== undefined && turn.end < place)
    const runs = turns.some(
      (turn) => turn.sessionId === sessionId && turn.begin < place && (turn.end ?? Infinity) > place,
    )
    const isTold = runs || opens(transcript, sessionId, place)
    return ended && !isTold && OF_TURNS.has(kind) ? [`a ${kind} after the turn was answered`] : []
  })
}

/** Whether the session is being loaded or resumed there. */
function opens({ entries }: Transcript, sessionId: unknown, place: number): boolean {
  const asked = entries
    .slice(0, place)
    .findLast(
      ({ from, message }) =>
        from === 'client' &&
        (message.method === 'session/load' || message.method === 'session/resume') &&
        message.params?.['sessionId'] === sessionId,
    )
  if (asked === undefined) return false
  // With a cursor, what was missed follows the answer to a resume.
  const goesOn = fieldsOf(asked.message.params?.['_meta'])['parley/after'] !== undefined
  return goesOn || !entries.slice(0, place).some((entry) => answers(entry, asked.message.id))
}

export function unfinishedCalls(transcript: Transcript): readonly string[] {
  if (transcript.shared) return []
  const turns = turnsOf(transcript)
  return turns.flatMap((turn) => {
    const { begin, end, sessionId } = turn
    if (end === undefined || turns.some((other) => waitedBehind(turn, other))) return []
    const status = new Map<unknown, unknown>()
    for (const { message } of transcript.entries.slice(begin, end)) {
      const update = fieldsOf(message.params?.['update'])
      if (message.params?.['sessionId'] !== sessionId || !String(update['sessionUpdate']).startsWith('tool_call'))
        continue
      const before = status.get(update['toolCallId'])
      status.set(update['toolCallId'], update['status'] ?? before ?? 'pending')
    }
    const open = [...status].filter(([, one]) => one !== 'completed' && one !== 'failed')
    return open.map(([id, one]) => `the tool call ${String(id)} is still ${String(one)} when its turn is answered`)
  })
}

export function unreleasedTerminals({ entries }: Transcript): readonly string[] {
  const asked = new Map<string, Message>()
  const made: string[] = []
  const released: string[] = []
  for (const { from, message } of entries) {
    const key = JSON.stringify(message.id)
    if (from === 'agent' && message.method !== undefined) asked.set(key, message)
    const request = from === 'client' && message.method === undefined ? asked.get(key) : undefined
    if (request?.method === 'terminal/create' && message.result !== undefined)
      made.push(String(message.result['terminalId']))
    if (request?.method === 'terminal/release') released.push(String(request.params?.['terminalId']))
  }
  return made.filter((id) => !released.includes(id)).map((id) => `the terminal ${id} was never released`)
}
