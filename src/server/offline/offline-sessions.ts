/**
 * The view of `ls` and `show`: sessions and their updates straight from the journal, without an owner, a recovery or an
 * agent.
 */
import type { Config } from '../../config/settings.ts'
import { FULL_DISPLAY } from '../../edge/acp/v1/initialize/client-capabilities.ts'
import { type Update, hiddenInReplay, updateOf } from '../../edge/acp/v1/render/entry-to-update.ts'
import { type SessionInfo, sessionInfo } from '../../edge/acp/v1/session-list/list-sessions.ts'
import { fail } from '../../errors/parley-error.ts'
import type { SessionPhase, SessionSummary } from '../../ports/journal.ts'
import type { Grant } from '../../ports/rules.ts'
import { interruptTurn } from '../../session/domain/finish-turn.ts'
import { type Entry, decodeEntry } from '../../session/domain/entries.ts'
import { evolve } from '../../session/domain/evolve.ts'
import { ReplayCoalescer } from '../../session/subscribers/replay-coalescer.ts'
import { type State, absent, isAtWork, isBusy } from '../../session/domain/state.ts'
import { loadState } from '../../session/log/session-log.ts'
import { type JournalReader, hasOwner, openJournalReader } from '../compose/open-state.ts'

/** With the ends of turns that were stopped. */
const DISPLAY = { ...FULL_DISPLAY, places: true }
const LIST_PAGE = 500
const ENTRY_PAGE = { entries: 2_000, chars: 4 * 1024 * 1024 }

/** As the params of `session/update`. */
export interface UpdateParams {
  readonly sessionId: string
  readonly update: Update
  readonly _meta: { readonly 'parley/seq': number }
}

/** A session, the full name of its agent, and how it stands when it is not simply idle. */
export type OfflineSession = SessionInfo & {
  readonly _meta: { readonly 'parley/agent': string; readonly 'parley/phase'?: Exclude<SessionPhase, 'idle'> }
}

/** How far the last turn is, when it has not ended. */
export type Unfinished = 'working' | 'waiting'

export interface OfflineReader {
  /** Newest first. */
  list(cwd?: string): AsyncIterable<OfflineSession>
  /** The session of this id, or the only one whose id begins so. Throws SESSION_NOT_FOUND or SESSION_AMBIGUOUS. */
  find(prefix: string): Promise<SessionInfo>
  /**
   * The updates that `session/load` would send to a client that asks for `parley/places`. A turn that its owner left behind when it died ends here as the next owner
   * will end it. Returns how far the last turn is, if it still runs.
   */
  updates(sessionId: string): AsyncGenerator<UpdateParams, Unfinished | undefined>
  /** The calls that the user has always or never allowed in it. */
  grants(sessionId: string): Promise<readonly Grant[]>
  close(): Promise<void>
}

export async function openReader(config: Config): Promise<OfflineReader> {
  const journal = await openJournalReader(config)
  return {
    async *list(cwd) {
      const owned = hasOwner(config)
      for await (const row of rows(journal, cwd)) yield listed(row, owned)
    },
    async find(prefix) {
      return sessionInfo(await findRow(journal, prefix))
    },
    updates: (sessionId) => updatesOf(journal, sessionId, () => hasOwner(config)),
    async grants(sessionId) {
      const state = await loadState({ journal }, sessionId)
      return state.phase === 'absent' ? [] : state.grants
    },
    close: () => journal.close(),
  }
}

/** A turn that its owner left behind does not run any more; one that waits for an answer still does. */
function listed(row: SessionSummary, owned: boolean): OfflineSession {
  const { phase, agent } = row
  const isIdle = phase === 'idle' || (phase === 'working' && !owned)
  return { ...sessionInfo(row), _meta: { 'parley/agent': agent, ...(!isIdle && { 'parley/phase': phase }) } }
}

async function* rows(journal: JournalReader, cwd: string | undefined): AsyncGenerator<SessionSummary> {
  const query = { limit: LIST_PAGE, ...(cwd === undefined ? {} : { cwd }) }
  let page = await journal.list(query)
  for (;;) {
    yield* page
    const after = page.at(-1)
    if (after === undefined || page.length < LIST_PAGE) return
    page = await journal.list({ ...query, after })
  }
}

export async function findRow(journal: JournalReader, prefix: string): Promise<SessionSummary> {
  if (prefix === '') return fail('CONFIG_INVALID', { key: 'ID', value: '""', reason: 'it names no session' })
  const exact = await journal.head(prefix)
  if (exact !== undefined) return exact.row
  const found: SessionSummary[] = []
  for await (const row of rows(journal, undefined)) if (row.id.startsWith(prefix)) found.push(row)
  const [only, another] = found
  if (only === undefined) return fail('SESSION_NOT_FOUND', { session: prefix })
  return another === undefined ? only : fail('SESSION_AMBIGUOUS', { prefix, count: found.length })
}

async function* updatesOf(
  journal: JournalReader,
  sessionId: string,
  isOwned: () => boolean,
): AsyncGenerator<UpdateParams, Unfinished | undefined> {
  let state: State = absent(sessionId)
  const replay = new ReplayCoalescer()
  for await (const entries of pages(journal, sessionId)) {
    for (const entry of entries) state = evolve(state, entry)
    yield* rendered(sessionId, replay.push(entries))
  }
  yield* rendered(sessionId, replay.flush())
  const owned = isOwned()
  if (!owned) yield* rendered(sessionId, leftBehind(state))
  return unfinished(state, owned)
}

async function* pages(journal: JournalReader, sessionId: string): AsyncGenerator<readonly Entry[]> {
  let seq = 0
  for (;;) {
    const page = await journal.page(sessionId, seq, ENTRY_PAGE)
    if (page.length === 0) return
    yield page.map(decodeEntry)
    seq = page.at(-1)?.seq ?? seq
  }
}

/** The entries that the next server will append first: they end the turn that its last owner left. */
function leftBehind(state: State): readonly Entry[] {
  if (!isBusy(state)) return []
  const { seq, updatedAt } = state
  return interruptTurn(state).map((body, index): Entry => Object.assign({ seq: seq + index + 1, at: updatedAt }, body))
}

function unfinished(state: State, owned: boolean): Unfinished | undefined {
  if (!isBusy(state)) return undefined
  if (owned) return isAtWork(state) ? 'working' : 'waiting'
  // A turn that only waited for an answer still does; any other was ended above.
  const isHeld = state.phase === 'suspended' || interruptTurn(state).some(({ kind }) => kind === 'turn_suspended')
  return isHeld ? 'waiting' : undefined
}

function* rendered(sessionId: string, entries: readonly Entry[]): Generator<UpdateParams> {
  const hidden = hiddenInReplay(entries)
  for (const entry of entries) {
    const update = hidden.has(entry) ? undefined : updateOf(entry, DISPLAY)
    if (update !== undefined) yield { sessionId, update, _meta: { 'parley/seq': entry.seq } }
  }
}
