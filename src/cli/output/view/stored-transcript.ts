/** The transcript of a stored session, turn by turn, and the state of its last turn. */
import { roleOf } from '../../../client/transcript/items.ts'
import { seqOf } from '../../../client/sessions/attachments.ts'
import { type Transcript, emptyTranscript, withUpdates } from '../../../client/transcript/transcript.ts'
import type { Update, UpdateParams } from '../../../client/incoming/updates.ts'
import type { Unfinished } from '../../../server/offline/offline-sessions.ts'

interface Updates {
  updates(sessionId: string): AsyncGenerator<UpdateParams, Unfinished | undefined>
}

export interface StoredTranscript {
  readonly transcript: Transcript
  /** The entry before its prompt: a fork up to it goes another way from there. Undefined for what has no prompt. */
  readonly before: number | undefined
  readonly unfinished: Unfinished | undefined
}

/**
 * Yields one turn at a time, so that a long session needs no more memory than its longest turn. A prompt begins a turn and
 * completes the one before. Each has its own items, and the plan and other state of the session as they were then.
 */
export async function* turnsOf(reader: Updates, sessionId: string): AsyncGenerator<StoredTranscript> {
  const updates = reader.updates(sessionId)
  let before: Transcript = emptyTranscript
  let turn: Update[] = []
  let prompt: number | undefined
  for (;;) {
    const { done, value } = await updates.next()
    if (done) return yield { transcript: withUpdates(before, turn), before: entryBefore(prompt), unfinished: value }
    const { update } = value
    if (beginsTurn(update, turn)) {
      const transcript = withUpdates(before, turn)
      yield { transcript, before: entryBefore(prompt), unfinished: undefined }
      before = { ...transcript, items: [] }
      turn = []
      prompt = undefined
    }
    if (roleOf(update) === 'user') prompt ??= seqOf(value)
    turn.push(update)
  }
}

function entryBefore(prompt: number | undefined): number | undefined {
  return prompt === undefined ? undefined : prompt - 1
}

/** A prompt of several parts begins one turn. */
function beginsTurn(update: Update, before: readonly Update[]): boolean {
  const last = before.at(-1)
  return last !== undefined && roleOf(update) === 'user' && roleOf(last) !== 'user'
}
