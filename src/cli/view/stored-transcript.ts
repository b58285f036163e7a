/** The whole transcript of a stored session, and how far its last turn is. */
import { type Transcript, emptyTranscript, told } from '../../client/transcript.ts'
import type { Reader, Unfinished, UpdateParams } from '../../server/reader.ts'

export interface StoredTranscript {
  readonly transcript: Transcript
  readonly unfinished: Unfinished | undefined
}

export async function transcriptOf(reader: Reader, sessionId: string): Promise<StoredTranscript> {
  const { updates, unfinished } = await allOf(reader.updates(sessionId))
  const transcript = told(
    emptyTranscript,
    updates.map(({ update }) => update),
  )
  return { transcript, unfinished }
}

/** The value that a generator returns is lost to `for await`. */
async function allOf(updates: ReturnType<Reader['updates']>) {
  const all: UpdateParams[] = []
  for (;;) {
    const { done, value } = await updates.next()
    if (done) return { updates: all, unfinished: value }
    all.push(value)
  }
}
