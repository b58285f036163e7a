/** Reads a whole journal with a plain eye, not with the core's: what was accepted, what ended, what was left open. */
import type { Entry } from '../../src/session/domain/entries.ts'

export interface Account {
  readonly accepted: readonly string[]
  /** How often this prompt ended. */
  readonly ends: (promptId: string) => number
  /** Of the last turn. */
  readonly openCalls: readonly string[]
  readonly openQuestions: readonly string[]
  /** What a turn left open at its end, over the whole journal. */
  readonly leftOpen: readonly string[]
  /** Entries that speak of what was never told, or that stand in no turn. */
  readonly strays: readonly Entry[]
}

export function account(entries: readonly Entry[]): Account {
  const accepted: string[] = []
  const ended: string[] = []
  const leftOpen: string[] = []
  const strays: Entry[] = []
  let inTurn = false
  const calls = new Map<string, boolean>()
  const questions = new Set<string>()
  const open = () => [...calls].flatMap(([id, isOpen]) => (isOpen ? [id] : []))

  for (const entry of entries) {
    switch (entry.kind) {
      case 'prompt_accepted':
        accepted.push(entry.promptId)
        break
      case 'prompt_withdrawn':
        ended.push(entry.promptId)
        break
      case 'turn_started':
        if (inTurn) strays.push(entry)
        inTurn = true
        calls.clear()
        questions.clear()
        break
      case 'turn_ended':
        ended.push(entry.promptId)
        leftOpen.push(...open(), ...questions)
        inTurn = false
        break
      case 'tool_call':
        if (!inTurn || calls.has(entry.toolCallId)) strays.push(entry)
        calls.set(entry.toolCallId, isOpen(entry.call.status))
        break
      case 'tool_call_patched':
        if (!inTurn || !calls.has(entry.toolCallId)) strays.push(entry)
        if (entry.patch.status !== undefined) calls.set(entry.toolCallId, isOpen(entry.patch.status))
        break
      case 'permission_requested':
        if (!inTurn || questions.size > 0) strays.push(entry)
        questions.add(entry.requestId)
        break
      case 'permission_resolved':
        if (!questions.delete(entry.requestId)) strays.push(entry)
        break
      case 'message_chunk':
        if (!inTurn && !isLate(entry.messageId)) strays.push(entry)
        break
      case 'plan':
        if (!inTurn) strays.push(entry)
        break
      default:
    }
  }
  const ends = (promptId: string) => ended.filter((one) => one === promptId).length
  return { accepted, ends, openCalls: open(), openQuestions: [...questions], leftOpen, strays }
}

/** An agent may speak between turns, in a message that says so. */
function isLate(messageId: string): boolean {
  return /^t\d+-late/u.test(messageId)
}

function isOpen(status: string | undefined): boolean {
  return status === undefined || status === 'pending' || status === 'in_progress'
}
