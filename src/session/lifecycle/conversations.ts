/** The ids under which agents know the sessions of a journal: of sessions that were imported or begun, and of deleted ones. */
import type { AgentMemory, DeletedConversation } from '../../ports/agent.ts'
import type { Cursor, Journal, SessionId } from '../../ports/journal.ts'
import { type Entry, decodeEntry } from '../domain/entries.ts'
import { entriesAfter, loadState } from '../log/session-log.ts'

const SEARCH_PAGE = { entries: 2_000, chars: 4 * 1024 * 1024 } as const

type AgentSessionEntry = Entry & { readonly kind: 'agent_session' }
type ForkEntry = Entry & { readonly kind: 'forked_from' }

export interface Conversations {
  /** The agent's own ids, with their sessions here. */
  readonly found: ReadonlyMap<string, SessionId>
  /** All sessions, each with its last entry. */
  readonly sessions: ReadonlyMap<SessionId, Cursor>
}

/** The conversations of an agent in what was stored after `seen`, which has the last entry of each session that was looked through. */
export async function newConversations(
  journal: Journal,
  agent: string,
  seen: ReadonlyMap<SessionId, Cursor>,
): Promise<Conversations> {
  const rows = await journal.list({ limit: Number.MAX_SAFE_INTEGER })
  const found = new Map<string, SessionId>()
  for (const { id, lastSeq } of rows.toReversed()) {
    const from = seen.get(id) ?? 0
    if (lastSeq === from) continue
    for await (const entry of agentSessionsIn(journal, id, from))
      if (entry.agent === agent) found.set(entry.agentSessionId, id)
  }
  return { found, sessions: new Map(rows.map(({ id, lastSeq }) => [id, lastSeq])) }
}

/** Those that agents had for this session alone, each once: what a fork has copied stays with its source. */
export async function conversationsToForget(
  journal: Journal,
  sessionId: SessionId,
): Promise<readonly DeletedConversation[]> {
  const all = new Map<string, DeletedConversation>()
  const copied = await forkPoint(journal, sessionId)
  for await (const { agent, agentSessionId, caps, cwd, how } of agentSessionsIn(journal, sessionId, copied)) {
    const key = JSON.stringify([agent, agentSessionId])
    const isImported = how === 'import' || all.get(key)?.isImported === true
    all.set(key, { agent, agentSessionId, caps, cwd, sessionId, isImported })
  }
  return [...all.values()]
}

/**
 * The conversation of the session that this one was forked from, as it was then; undefined if that had a turn open, or has had one
 * since, or is gone, or if this one has had a turn. One that failed before its agent did anything does not count.
 */
export async function forkedConversation(journal: Journal, id: SessionId): Promise<AgentMemory | undefined> {
  const fork = await forkEntry(journal, id)
  if (fork === undefined || (await hasTurns(journal, id, fork.seq))) return undefined
  const { from } = fork
  const source = await loadState({ journal }, from.session, from.seq)
  if (source.phase !== 'idle' && source.phase !== 'closed') return undefined
  if (await wentOn(journal, from)) return undefined
  return source.agentSession ?? undefined
}

async function hasTurns(journal: Journal, id: SessionId, after: Cursor): Promise<boolean> {
  let isInTurn = false
  for await (const entry of entriesAfter(journal, id, after)) {
    if (entry.kind === 'turn_started') isInTurn = true
    if (entry.kind === 'turn_ended' && entry.stopReason !== 'error') return true
    if (entry.kind === 'turn_ended') isInTurn = false
    if (isInTurn && isByAgent(entry)) return true
  }
  return false
}

/** Also what is no answer: the agent had the prompt, and a copy of another agent's conversation lacks it. */
function isByAgent(entry: Entry): boolean {
  if (entry.kind === 'message_chunk') return entry.role !== 'user' && entry.origin !== 'outside'
  return entry.kind === 'tool_call' || entry.kind === 'plan' || entry.kind === 'usage'
}

async function wentOn(journal: Journal, { session, seq }: ForkEntry['from']): Promise<boolean> {
  for await (const entry of entriesWith(journal, session, { from: seq, text: '"turn_started"' }))
    if (entry.kind === 'turn_started') return true
  return false
}

/** The last entry that was copied from another session; 0 for a session that is no fork. */
async function forkPoint(journal: Journal, id: SessionId): Promise<Cursor> {
  return (await forkEntry(journal, id))?.seq ?? 0
}

async function forkEntry(journal: Journal, id: SessionId): Promise<ForkEntry | undefined> {
  let last: ForkEntry | undefined
  for await (const entry of entriesWith(journal, id, { from: 0, text: '"forked_from"' }))
    if (entry.kind === 'forked_from') last = entry
  return last
}

async function* agentSessionsIn(journal: Journal, id: SessionId, from: Cursor): AsyncGenerator<AgentSessionEntry> {
  for await (const entry of entriesWith(journal, id, { from, text: '"agent_session"' }))
    if (entry.kind === 'agent_session') yield entry
}

/** The journal filters: hardly any entry is one of these. */
async function* entriesWith(
  journal: Journal,
  id: SessionId,
  { from, text }: { readonly from: Cursor; readonly text: string },
): AsyncGenerator<Entry> {
  for (let at = from; ;) {
    const { entries, until } = await journal.find(id, { from: at, text }, SEARCH_PAGE)
    yield* entries.map(decodeEntry)
    if (until === undefined) return
    at = until
  }
}
