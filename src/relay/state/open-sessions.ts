/** The sessions that the client has open, and how far it has seen each: what a new server must be told to go on. */
import { type Fields, type Response, fieldsOf } from '../messages.ts'
import type { OpenCall } from './client-requests.ts'
import type { UpdateCursor } from './update-cursor.ts'

export interface OpenSession {
  /** What the client declared: directories and MCP servers. Their secrets live only here, in memory. */
  opening: Fields
  /** The last entry that the client was told of; undefined when the server did not say where it stood. */
  cursor: number | undefined
  /** A load has yet to be answered: none of its replay has come, or some of it. */
  load: 'none' | 'asked' | 'replaying'
  isOpen: boolean
  /** Prompts that were answered after the last update: their ends lie behind the cursor and must not be told again. */
  ended: string[]
}

/** Their answers name the session. */
const BEGINNINGS: ReadonlySet<string> = new Set(['session/new', 'session/fork'])

export class OpenSessions {
  readonly #views = new Map<string, OpenSession>()

  /** Those that a server which forgot them must open again. */
  open(): readonly (readonly [sessionId: string, view: OpenSession])[] {
    return [...this.#views].filter(([, view]) => view.isOpen && view.load !== 'replaying')
  }

  get(sessionId: unknown): OpenSession | undefined {
    return typeof sessionId === 'string' ? this.#views.get(sessionId) : undefined
  }

  /** What an update says of it, besides its place in the journal. */
  updated(sessionId: string, meta: Fields, update: Fields): void {
    const seq = meta['parley/seq']
    if (typeof seq === 'number') this.saw({ sessionId, seq })
    this.stands(sessionId, meta['parley/phase'] ?? fieldsOf(update['_meta'])['parley/phase'])
  }

  /** A session that somebody closed must not be opened again by us. */
  stands(sessionId: unknown, phase: unknown): void {
    if (phase === undefined) return
    if (phase === 'deleted') this.forget(sessionId)
    else if (phase === 'closed') this.#close(sessionId)
    else this.#reopen(sessionId)
  }

  forget(sessionId: unknown): void {
    if (typeof sessionId === 'string') this.#views.delete(sessionId)
  }

  saw({ sessionId, seq }: UpdateCursor): void {
    const view = this.#views.get(sessionId)
    if (view === undefined) return
    // A replay begins before the place that the client had reached; what came until then was the end of the former view.
    // A notice is told with the place itself.
    if (view.load === 'asked' && (view.cursor === undefined || seq < view.cursor)) view.load = 'replaying'
    view.cursor = seq
    if (view.ended.length > 0) view.ended = []
  }

  promptEnded(sessionId: string, promptId: string): void {
    this.#views.get(sessionId)?.ended.push(promptId)
  }

  asked({ method, params }: Pick<OpenCall, 'method' | 'params'>): void {
    if (method !== 'session/load' || typeof params['sessionId'] !== 'string') return
    const { sessionId } = params
    const former = this.#views.get(sessionId)
    if (former !== undefined && former.cursor !== 0 && !isClosed(former)) former.load = 'asked'
    else this.#views.set(sessionId, { ...begun(params), isOpen: former?.isOpen ?? false, load: 'replaying' })
  }

  /** What an answer says of them. */
  answered({ method, params }: OpenCall, { result, errorCode }: Response): void {
    const sessionId = BEGINNINGS.has(method) ? result['sessionId'] : params['sessionId']
    if (typeof sessionId !== 'string') return
    if (errorCode === undefined) this.#done(method, sessionId, { params, result })
    else this.failed({ method, params })
  }

  /** A load that was refused leaves things as they were. */
  failed({ method, params }: Pick<OpenCall, 'method' | 'params'>): void {
    const view = this.get(params['sessionId'])
    if (method !== 'session/load' || view === undefined) return
    if (view.isOpen) view.load = 'none'
    else this.forget(params['sessionId'])
  }

  /** The server that they were open on is gone: what a load has replaced there stands on its answer alone. */
  lose(): void {
    for (const view of this.#views.values()) if (view.load === 'replaying') view.isOpen = false
  }

  /** Unless somebody else opens it again first. */
  #close(sessionId: unknown): void {
    const view = this.get(sessionId)
    if (view !== undefined) view.isOpen = false
  }

  /** Somebody has opened it again, and its server goes on telling our client of it. */
  #reopen(sessionId: unknown): void {
    const view = this.get(sessionId)
    if (view !== undefined && isClosed(view)) view.isOpen = true
  }

  #done(
    method: string,
    sessionId: string,
    { params, result }: { readonly params: Fields; readonly result: Fields },
  ): void {
    const { _meta, ...opening } = params
    switch (method) {
      case 'session/new':
      case 'session/fork':
        this.#views.set(sessionId, { ...begun({ ...opening, sessionId }), cursor: headIn(result) ?? 0, isOpen: true })
        break
      case 'session/load':
      case 'session/resume':
        this.#opened(method, sessionId, { params, head: headIn(result) })
        break
      case 'session/close':
      case 'session/delete':
        this.#views.delete(sessionId)
        break
    }
  }

  #opened(
    method: 'session/load' | 'session/resume',
    sessionId: string,
    { params, head }: { readonly params: Fields; readonly head: number | undefined },
  ): void {
    const former = this.#views.get(sessionId)
    const view = { ...begun(params), isOpen: true, ended: former?.ended ?? [] }
    // A load has told all by now. A resume tells what comes after the given entry, or from now on; on a session that was open it
    // leaves what is still on its way where it was.
    if (method === 'session/load') view.cursor = head ?? former?.cursor
    else view.cursor = afterIn(params) ?? (former?.isOpen === true ? former.cursor : head)
    this.#views.set(sessionId, view)
  }
}

function isClosed({ isOpen, load }: OpenSession): boolean {
  return !isOpen && load === 'none'
}

function begun({ _meta, ...opening }: Fields): OpenSession {
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
