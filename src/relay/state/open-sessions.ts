/** The sessions that the client has open and its cursor in each. A new server needs both to resume them. */
import { type Response, fieldsOf, requestMessage, type Fields } from '../../rpc/json-rpc.ts'
import { type OpenCall, type OpenPrompt, discardedId } from './open-requests.ts'

export interface RelayedSession {
  /** The directories and MCP servers that the client declared. Their secrets live only here, in memory. */
  opening: Fields
  /** The last entry that the client has; undefined when the server did not say where it stood. */
  cursor: number | undefined
  /** `asked`: a load has no response yet and none of its replay has come. `replaying`: some of it has. */
  load: 'none' | 'asked' | 'replaying'
  isOpen: boolean
  /** Prompts that were answered after the last update: their ends lie after the cursor and must not be shown again. */
  ended: string[]
}

/** Their responses name the session. */
const CREATING: ReadonlySet<string> = new Set(['session/new', 'session/fork'])

export class OpenSessions {
  readonly #sessions = new Map<string, RelayedSession>()

  /** Those that a new server must open again. */
  open(): readonly (readonly [sessionId: string, session: RelayedSession])[] {
    return [...this.#sessions].filter(([, session]) => session.isOpen && session.load !== 'replaying')
  }

  get(sessionId: unknown): RelayedSession | undefined {
    return typeof sessionId === 'string' ? this.#sessions.get(sessionId) : undefined
  }

  /** An update may carry the session's phase besides its cursor. */
  updated(sessionId: string, meta: Fields, update: Fields): void {
    const seq = meta['parley/seq']
    if (typeof seq === 'number') this.seen({ sessionId, seq })
    this.setPhase(sessionId, meta['parley/phase'] ?? fieldsOf(update['_meta'])['parley/phase'])
  }

  /** A session that any client closed is not opened again by the relay, unless a client opens it first. */
  setPhase(sessionId: unknown, phase: unknown): void {
    if (phase === undefined) return
    const session = this.get(sessionId)
    if (phase === 'deleted') this.forget(sessionId)
    else if (session !== undefined && phase === 'closed') session.isOpen = false
    // Another client has opened it again, and its server sends updates to our client as before.
    else if (session !== undefined && isClosed(session)) session.isOpen = true
  }

  forget(sessionId: unknown): void {
    if (typeof sessionId === 'string') this.#sessions.delete(sessionId)
  }

  /** The client gets the update of this entry. */
  seen({ sessionId, seq }: UpdateCursor): void {
    const session = this.#sessions.get(sessionId)
    if (session === undefined) return
    // A replay begins before the cursor. Updates until then were the end of the former view. A live-only notice carries
    // the cursor itself.
    const isReplay = session.cursor === undefined || seq < session.cursor
    if (session.load === 'asked' && isReplay) session.load = 'replaying'
    session.cursor = seq
    if (session.ended.length > 0) session.ended = []
  }

  promptEnded(sessionId: string, promptId: string): void {
    this.#sessions.get(sessionId)?.ended.push(promptId)
  }

  /** The client sends this request. */
  requested({ method, params }: Pick<OpenCall, 'method' | 'params'>): void {
    if (method !== 'session/load' || typeof params['sessionId'] !== 'string') return
    const { sessionId } = params
    const former = this.#sessions.get(sessionId)
    if (former !== undefined && former.cursor !== 0 && !isClosed(former)) former.load = 'asked'
    else this.#sessions.set(sessionId, { ...openSession(params), isOpen: former?.isOpen ?? false, load: 'replaying' })
  }

  answered({ method, params }: OpenCall, { result, error }: Response): void {
    const fields = fieldsOf(result)
    const sessionId = CREATING.has(method) ? fields['sessionId'] : params['sessionId']
    if (typeof sessionId !== 'string') return
    if (error === undefined) this.#succeeded(method, sessionId, { params, result: fields })
    else this.failed({ method, params })
  }

  /** A load that was refused changes nothing. */
  failed({ method, params }: Pick<OpenCall, 'method' | 'params'>): void {
    const session = this.get(params['sessionId'])
    if (method !== 'session/load' || session === undefined) return
    if (session.isOpen) session.load = 'none'
    else this.forget(params['sessionId'])
  }

  /** The server is gone: a session whose replay had begun is open only if that load succeeds on the next server. */
  lose(): void {
    for (const session of this.#sessions.values()) if (session.load === 'replaying') session.isOpen = false
  }

  #succeeded(
    method: string,
    sessionId: string,
    { params, result }: { readonly params: Fields; readonly result: Fields },
  ): void {
    const { _meta, ...opening } = params
    switch (method) {
      case 'session/new':
      case 'session/fork':
        this.#sessions.set(sessionId, {
          ...openSession({ ...opening, sessionId }),
          cursor: headIn(result) ?? 0,
          isOpen: true,
        })
        break
      case 'session/load':
      case 'session/resume':
        this.#opened(method, sessionId, { params, head: headIn(result) })
        break
      case 'session/close':
      case 'session/delete':
        this.#sessions.delete(sessionId)
        break
    }
  }

  #opened(
    method: 'session/load' | 'session/resume',
    sessionId: string,
    { params, head }: { readonly params: Fields; readonly head: number | undefined },
  ): void {
    const former = this.#sessions.get(sessionId)
    const session = { ...openSession(params), isOpen: true, ended: former?.ended ?? [] }
    // The replay of a load is complete by now. A resume replays what comes after the given entry, or only what is new; on a
    // session that was open, updates that are still on their way count from the former cursor.
    if (method === 'session/load') session.cursor = head ?? former?.cursor
    else session.cursor = afterIn(params) ?? (former?.isOpen === true ? former.cursor : head)
    this.#sessions.set(sessionId, session)
  }
}

function isClosed({ isOpen, load }: RelayedSession): boolean {
  return !isOpen && load === 'none'
}

function openSession({ _meta, ...opening }: Fields): RelayedSession {
  return { opening, cursor: afterIn({ _meta }) ?? 0, load: 'none', isOpen: false, ended: [] }
}

function afterIn({ _meta }: Fields): number | undefined {
  const after = fieldsOf(_meta)['parley/after']
  return typeof after === 'number' ? after : undefined
}

function headIn({ _meta }: Fields): number | undefined {
  const head = fieldsOf(_meta)['parley/seq']
  return typeof head === 'number' ? head : undefined
}

/** Parameters of a `session/resume` on a new server: the cursor, and the prompts that still wait for their end. */
export function resumeParams(session: RelayedSession, prompts: readonly OpenPrompt[]): Fields {
  // It has its agent since it was opened: the one of the connection, or its own.
  const meta = { 'parley/agentChosen': false, ...cursorMeta(session), ...promptsMeta(prompts, session.ended) }
  return { ...session.opening, _meta: meta }
}

/** The client's own load or resume for a new server, without what the client has of its replay already. */
export function repeatedOpening(
  { id, method, params }: OpenCall,
  session: RelayedSession | undefined,
  prompts: readonly OpenPrompt[],
): string {
  const meta =
    session === undefined
      ? promptsMeta(prompts, [])
      : { ...cursorMeta(session), ...promptsMeta(prompts, session.ended) }
  return requestMessage(id, method, { ...params, _meta: { ...fieldsOf(params['_meta']), ...meta } })
}

function cursorMeta({ cursor }: RelayedSession): Fields {
  return cursor === undefined ? {} : { 'parley/after': cursor }
}

/** Answered prompts whose ends lie after the cursor are adopted too: otherwise the client gets their ends as those of other clients. */
function promptsMeta(prompts: readonly OpenPrompt[], ended: readonly string[]): Fields {
  return {
    'parley/prompts': [
      ...prompts.map(({ id, promptId }) => ({ requestId: id, promptId })),
      ...ended.map((promptId, index) => ({ requestId: discardedId(index), promptId })),
    ],
  }
}

export interface UpdateCursor {
  readonly sessionId: string
  readonly seq: number
}

/** How our server's updates begin; any other message is parsed. */
const UPDATE = Buffer.from('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"')
const SEQ = Buffer.from('"parley/seq":')
/** Such an update may say that the session was closed, so it is parsed. */
const SESSION_INFO = Buffer.from('","update":{"sessionUpdate":"session_info_update"')

const QUOTE = 0x22
const BACKSLASH = 0x5c
const ZERO = 0x30

/**
 * Finds the session and the cursor of an update without parsing it, as most messages are updates. Undefined where the line
 * must be parsed.
 */
export function scanUpdateCursor(line: Buffer): UpdateCursor | undefined {
  if (!hasBytesAt(line, UPDATE, 0)) return undefined
  const end = line.indexOf(QUOTE, UPDATE.length)
  // A quote within a JSON string is written with a backslash, so a bare one is part of a key. The last such key is the update's own.
  const at = line.lastIndexOf(SEQ)
  if (at < end || line[end - 1] === BACKSLASH || hasBytesAt(line, SESSION_INFO, end)) return undefined
  const seq = numberAt(line, at + SEQ.length)
  return Number.isNaN(seq) ? undefined : { sessionId: line.toString('utf8', UPDATE.length, end), seq }
}

function hasBytesAt(line: Buffer, bytes: Buffer, at: number): boolean {
  return line.length >= at + bytes.length && line.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0
}

function numberAt(line: Buffer, from: number): number {
  let number = Number.NaN
  for (let at = from; at < line.length; at += 1) {
    const digit = (line[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return number
    number = (Number.isNaN(number) ? 0 : number) * 10 + digit
  }
  return number
}
