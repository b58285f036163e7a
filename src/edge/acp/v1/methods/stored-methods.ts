/** The methods beyond ACP that work on any stored session, attached or not. `docs/internals/protocol.md` describes them. */
import { fail } from '../../../../errors/parley-error.ts'
import type { SessionDirectory } from '../../../../session/handle.ts'
import type { MethodAnswer } from '../../version.ts'
import type { Access } from '../../../method-access.ts'
import type { SessionFiles } from '../../../places/session-files.ts'
import type { SeenMarks } from '../../../seen-marks.ts'
import type { ClientCapabilities } from '../initialize/client-capabilities.ts'
import { pageOut } from '../render/page.ts'
import { type Parsed, parseParams } from './params.ts'

interface StoredContext {
  readonly sessions: SessionDirectory
  readonly client: { readonly capabilities: Pick<ClientCapabilities, 'display'>; readonly author: string }
  readonly access: Access
  readonly seen: SeenMarks
  /** Loaded with the first query. */
  readonly files: () => Promise<SessionFiles>
  /** The setting `remote_roots`. */
  readonly roots: readonly string[]
  /** Whether this connection waits for the end of the prompt. */
  isOwnPrompt(sessionId: string, promptId: string): boolean
}

/** Updates of a page for a client that names no number. */
const PAGE_LIMIT = 200
/** Files or directories for a client that names no number. */
const PLACES_LIMIT = 50

export class StoredMethods {
  readonly #context: StoredContext
  readonly #sessions: SessionDirectory

  constructor(context: StoredContext) {
    this.#context = context
    this.#sessions = context.sessions
  }

  /** Undefined when there is no such method. */
  request(method: string, params: unknown): Promise<MethodAnswer> | undefined {
    switch (method) {
      case '_parley/page':
        return this.#page(parseParams(method, params))
      case '_parley/answer':
        return this.#answer(parseParams(method, params))
      case '_parley/withdraw':
        return this.#withdraw(parseParams(method, params))
      case '_parley/promote':
        return this.#promote(parseParams(method, params))
      case '_parley/seen':
        return this.#seen(parseParams(method, params))
      case '_parley/export':
        return this.#export(parseParams(method, params))
      case '_parley/outline':
        return this.#outline(parseParams(method, params))
      case '_parley/files':
        return this.#files(parseParams(method, params))
      case '_parley/directories':
        return this.#directories(parseParams(method, params))
      case '_parley/rename':
        return this.#rename(parseParams(method, params))
      case '_parley/revoke':
        return this.#revoke(parseParams(method, params))
      case '_parley/force_cancel':
        return this.#release(parseParams(method, params), 'now')
      case '_parley/release':
        return this.#release(parseParams(method, params), 'idle')
      case '_parley/fork':
        return this.#fork(parseParams(method, params))
      default:
        return undefined
    }
  }

  /** A part of the conversation, from its end or from a page before it backwards. */
  async #page({ sessionId, before, limit }: Parsed<'_parley/page'>): Promise<MethodAnswer> {
    const query = { before: before ?? undefined, limit: limit ?? PAGE_LIMIT }
    const page = await this.#sessions.page(sessionId, query)
    return { result: pageOut(sessionId, page, this.#context.client.capabilities.display) }
  }

  /** Idempotent: the answer to a repeated request says how the first one ended. */
  async #answer({ sessionId, requestId, optionId }: Parsed<'_parley/answer'>): Promise<MethodAnswer> {
    const by = this.#context.client.author
    return { result: await this.#sessions.answer(sessionId, { requestId, optionId, by }) }
  }

  async #withdraw({ sessionId, promptId }: Parsed<'_parley/withdraw'>): Promise<MethodAnswer> {
    if (!this.#context.isOwnPrompt(sessionId, promptId))
      this.#context.access.requireRole('approve', 'To withdraw a prompt that another client sent')
    return {
      result: { withdrawn: await this.#sessions.changeQueue(sessionId, { kind: 'withdraw_waiting', promptId }) },
    }
  }

  async #promote({ sessionId, promptId, now }: Parsed<'_parley/promote'>): Promise<MethodAnswer> {
    const by = this.#context.client.author
    const change = { kind: 'promote', promptId, now: now === true, by } as const
    return { result: { promoted: await this.#sessions.changeQueue(sessionId, change) } }
  }

  /** What ended after `seq` is unread again: a person may also mark by hand. */
  async #seen({ sessionId, seq }: Parsed<'_parley/seen'>): Promise<MethodAnswer> {
    const row = (await this.#sessions.find(sessionId)) ?? fail('SESSION_NOT_FOUND', { session: sessionId })
    const { access, seen } = this.#context
    await seen.mark(access.person, sessionId, Math.min(seq, row.lastSeq))
    return { result: {} }
  }

  async #export({ sessionId, after, upTo }: Parsed<'_parley/export'>): Promise<MethodAnswer> {
    const range = { after: after ?? 0, ...(typeof upTo === 'number' && { upTo }) }
    return { result: await this.#sessions.exportPage(sessionId, range) }
  }

  async #outline({ sessionId }: Parsed<'_parley/outline'>): Promise<MethodAnswer> {
    return { result: { prompts: await this.#sessions.outline(sessionId) } }
  }

  async #files({ sessionId, query, limit }: Parsed<'_parley/files'>): Promise<MethodAnswer> {
    const { cwd, additionalDirectories } =
      (await this.#sessions.find(sessionId)) ?? fail('SESSION_NOT_FOUND', { session: sessionId })
    const directories = [cwd, ...additionalDirectories]
    const files = await this.#context.files()
    return { result: await files.find({ directories, query: query ?? '', limit: limit ?? PLACES_LIMIT }) }
  }

  async #directories({ path, query, limit }: Parsed<'_parley/directories'>): Promise<MethodAnswer> {
    const wanted = { path: path ?? undefined, query: query ?? '', limit: limit ?? PLACES_LIMIT }
    const { findDirectories } = await import('../../../places/directories.ts')
    return { result: await findDirectories(this.#context, wanted) }
  }

  /** Attached clients are notified as of any title. */
  async #rename({ sessionId, title }: Parsed<'_parley/rename'>): Promise<MethodAnswer> {
    await this.#sessions.rename(sessionId, title)
    return { result: {} }
  }

  /** `now`: with the turn that runs. */
  async #release({ sessionId }: Parsed<'_parley/release'>, when: 'idle' | 'now'): Promise<MethodAnswer> {
    return { result: { ended: await this.#sessions.releaseAgent(sessionId, when) } }
  }

  /** The next call that the grant covered needs a permission again. */
  async #revoke({ sessionId, grant }: Parsed<'_parley/revoke'>): Promise<MethodAnswer> {
    await this.#sessions.revoke(sessionId, grant)
    return { result: {} }
  }

  /** Unlike `session/fork`, does not open the new session. */
  async #fork({ sessionId, at }: Parsed<'_parley/fork'>): Promise<MethodAnswer> {
    return { result: { sessionId: await this.#sessions.fork(sessionId, at ?? undefined) } }
  }
}
