/** The turns of a session as an agent reads them that does not know them: folded from the journal. */
import type { PastPart, PastTurn } from '../../ports/agent.ts'
import type { Cursor, Journal, SessionId } from '../../ports/journal.ts'
import type { Content, ToolCallContent, ToolCallPatch } from '../../ports/values/content.ts'
import type { Entry } from '../domain/entries.ts'
import { entriesAfter } from '../log/session-log.ts'

/** Characters of a message that are kept: its end. Far more than any agent gets. */
const MAX_TEXT_CHARS = 128 * 1024
/** Messages and calls of a turn that are kept: the last ones. */
const MAX_PARTS = 1_000

type AgentChunk = Entry & { readonly kind: 'message_chunk'; readonly role: 'agent' | 'thought' }
type CallPart = PastPart & { readonly kind: 'call' }

/** The turns that began after this cursor, in order; one made outside comes before the turn that found it. */
export async function* pastTurns(journal: Journal, session: SessionId, after: Cursor): AsyncGenerator<PastTurn> {
  let turn: TurnFold | undefined
  let outside: readonly TurnFold[] = []
  for await (const entry of entriesAfter(journal, session, after)) {
    if (entry.kind === 'turn_started') turn = new TurnFold(entry.turnId, entry.seq, entry.by ?? 'prompt')
    else if (entry.kind === 'message_chunk' && entry.origin === 'outside') outside = withOutside(outside, entry)
    else turn?.add(entry)
    if (entry.kind !== 'turn_ended' || turn === undefined) continue
    for (const one of outside) yield one.result()
    yield turn.result(entry.stopReason)
    turn = undefined
    outside = []
  }
  for (const one of outside) yield one.result()
  if (turn !== undefined) yield turn.result()
}

/** A question after an answer begins another turn. */
function withOutside(turns: readonly TurnFold[], entry: Entry & { readonly kind: 'message_chunk' }) {
  const last = turns.at(-1)
  const isNext = last === undefined || (entry.role === 'user' && last.hasAnswer)
  const turn = isNext ? new TurnFold(entry.messageId, entry.seq, 'outside') : last
  turn.add(entry)
  return isNext ? [...turns, turn] : turns
}

class TurnFold {
  readonly #turnId: string
  readonly #cursor: Cursor
  readonly #by: PastTurn['by']
  readonly #prompt: Content[] = []
  readonly #parts: PastPart[] = []
  /** Of the text that the next chunk continues. */
  #messageId = ''

  constructor(turnId: string, cursor: Cursor, by: PastTurn['by']) {
    this.#turnId = turnId
    this.#cursor = cursor
    this.#by = by
  }

  get hasAnswer(): boolean {
    return this.#parts.length > 0
  }

  add(entry: Entry): void {
    switch (entry.kind) {
      case 'message_chunk':
        if (entry.role === 'user') this.#prompt.push(entry.content)
        else if (entry.role === 'agent' && entry.content.type === 'text') this.#text(entry, entry.content.text)
        return
      case 'tool_call':
        this.#push(callPart(entry.toolCallId, { title: entry.toolCallId, status: 'pending' }, entry.call))
        return
      case 'tool_call_patched':
        this.#patch(entry.toolCallId, entry.patch)
        return
      default:
    }
  }

  result(end?: PastTurn['end']): PastTurn {
    const about = { turnId: this.#turnId, cursor: this.#cursor, by: this.#by }
    return { ...about, prompt: this.#prompt, parts: this.#parts, ...(end !== undefined && { end }) }
  }

  #text({ messageId, agentMessageId }: AgentChunk, text: string): void {
    const last = this.#parts.at(-1)
    if (last?.kind === 'text' && messageId === this.#messageId) {
      this.#parts.splice(-1, 1, { ...last, text: endOf(last.text + text) })
      return
    }
    this.#messageId = messageId
    this.#push({ kind: 'text', text: endOf(text), ...(agentMessageId !== undefined && { messageId: agentMessageId }) })
  }

  #patch(toolCallId: string, patch: ToolCallPatch): void {
    const at = this.#parts.findLastIndex((part) => part.kind === 'call' && part.toolCallId === toolCallId)
    const before = this.#parts[at]
    if (before?.kind === 'call') this.#parts.splice(at, 1, callPart(toolCallId, before, patch))
  }

  #push(part: PastPart): void {
    this.#parts.push(part)
    if (this.#parts.length > MAX_PARTS) this.#parts.shift()
  }
}

function endOf(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : text.slice(-MAX_TEXT_CHARS)
}

function callPart(
  toolCallId: string,
  before: Pick<CallPart, 'title' | 'status'> & Partial<CallPart>,
  { title = before.title, status = before.status, locations, content }: ToolCallPatch,
): CallPart {
  const paths = locations?.map(({ path }) => path) ?? before.paths ?? []
  const diffs = content === undefined ? (before.diffs ?? []) : content.flatMap(diffOf)
  return { kind: 'call', toolCallId, title, status, paths, diffs }
}

/** How many lines each side has that the other has not at its beginning and end: enough to tell the size of a change. */
function diffOf(content: ToolCallContent): CallPart['diffs'] {
  if (content.type !== 'diff') return []
  const before = content.oldText === null || content.oldText === '' ? [] : content.oldText.split('\n')
  const after = content.newText === '' ? [] : content.newText.split('\n')
  let start = 0
  while (start < before.length && before[start] === after[start]) start += 1
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  return [{ path: content.path, added: after.length - start - end, removed: before.length - start - end }]
}
