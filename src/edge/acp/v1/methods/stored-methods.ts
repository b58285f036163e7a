/** The methods beyond ACP that work on any stored session, attached or not. `docs/internals/protocol.md` describes them. */
import type { SessionDirectory } from '../../../../session/handle.ts'
import type { MethodAnswer } from '../../version.ts'
import type { ClientCapabilities } from '../initialize/client-capabilities.ts'
import { pageOut } from '../render/page.ts'
import { type Parsed, parseParams } from './params.ts'

interface StoredContext {
  readonly sessions: SessionDirectory
  readonly client: { readonly capabilities: Pick<ClientCapabilities, 'display'> }
}

/** Updates of a page for a client that names no number. */
const PAGE_LIMIT = 200

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
