/** The requests and notifications of the agent: updates, notices, permission requests, and methods of the client. */
import { LruMap } from '../../async/lru.ts'
import { type RequestId, fieldsOf } from '../../rpc/json-rpc.ts'
import type { GuardedDelegate } from '../client-delegate.ts'
import type { Peer } from '../connection/json-rpc-peer.ts'
import type { Attachments } from '../sessions/attachments.ts'
import type { KnownSettings } from '../sessions/agent-settings.ts'
import { type ClientServices, serve } from './client-methods.ts'
import { noticeOf } from './notices.ts'
import type { PermissionRequests, Withdrawal } from './permission-requests.ts'
import { type ToolCallContent, type Update, type UpdateParams, updateIn } from './updates.ts'

export interface IncomingDeps {
  readonly delegate: GuardedDelegate
  readonly permissions: PermissionRequests
  readonly attachments: Attachments
  readonly settings: KnownSettings
  readonly services: ClientServices
  /** The connection that the messages come from. */
  peer(): Peer | undefined
  /** The directories of a session that is being created: an agent may ask for files before we know its id. */
  rootsOfNewSession(): readonly string[] | undefined
  /** The agent has answered `initialize`, and is no Parley server. */
  isForeignAgent(): boolean
  /** The server has announced that it stops. */
  serverStopping(): void
}

export class Incoming {
  readonly #deps: IncomingDeps
  readonly #terminals = new ShownTerminals()
  /** Requests of the agent that are being handled. */
  readonly #serving = new Map<RequestId, AbortController>()

  constructor(deps: IncomingDeps) {
    this.#deps = deps
  }

  notified(method: string, params: unknown): void {
    const { attachments, delegate } = this.#deps
    if (method === 'session/update') return this.#updated(updateIn(params))
    if (method === '$/cancel_request') return this.#withdrawn(fieldsOf(params)['requestId'] as RequestId)
    if (method === '_parley/server') return this.#serverStands(fieldsOf(params)['state'])
    const notice = noticeOf(method, params, (promptId) => attachments.isMine(promptId))
    if (notice === undefined) return
    if (notice.kind === 'turn') attachments.setPhase(notice.sessionId, notice.phase)
    delegate.noticed(notice)
  }

  /** False for a method that the client does not provide. */
  requested(id: RequestId, method: string, params: unknown): boolean {
    if (method !== 'session/request_permission') return this.#serve(id, method, params)
    this.#deps.permissions.ask(id, params)
    return true
  }

  /** The connection is gone, and no agent waits for an answer. */
  disconnected(): void {
    this.#deps.permissions.disconnect()
    for (const one of this.#serving.values()) one.abort('disconnected' satisfies Withdrawal)
  }

  #serverStands(state: unknown): void {
    if (state === 'stopping') this.#deps.serverStopping()
    if (state === 'uncertain' || state === 'certain') this.#deps.delegate.connection({ kind: state })
  }

  #withdrawn(id: RequestId): void {
    this.#deps.permissions.withdraw(id)
    this.#serving.get(id)?.abort('elsewhere' satisfies Withdrawal)
  }

  #updated(update: UpdateParams | undefined): void {
    if (update === undefined || this.#isUnrelated(update.sessionId)) return
    const { attachments, settings, delegate } = this.#deps
    attachments.seen(update)
    settings.updated(update.sessionId, update.update)
    delegate.updated(this.#terminals.show(update))
  }

  /** A Parley server may report the end of a session that we have left. Another agent has no reason to name a session that is not open here. */
  #isUnrelated(sessionId: string): boolean {
    const isOpen =
      this.#deps.rootsOfNewSession() !== undefined || this.#deps.attachments.rootsOf(sessionId) !== undefined
    return this.#deps.isForeignAgent() && !isOpen
  }

  #serve(id: RequestId, method: string, params: unknown): boolean {
    const { services, attachments } = this.#deps
    const peer = this.#deps.peer()
    const rootsOf = (sessionId: string) => attachments.rootsOf(sessionId) ?? this.#deps.rootsOfNewSession()
    // The output is read before the terminal is released.
    const output = method === 'terminal/release' ? lastOutputOf(services, params) : undefined
    const withdrawn = new AbortController()
    const reply = serve(services, rootsOf, { method, params, withdrawn: withdrawn.signal })
    if (reply !== undefined) this.#serving.set(id, withdrawn)
    void reply?.then((answer) => {
      this.#serving.delete(id)
      peer?.reply(id, answer)
    })
    void output?.then((last) => last && this.#released(last))
    return reply !== undefined
  }

  #released({ terminalId, output }: LastOutput): void {
    for (const params of this.#terminals.released(terminalId, output)) this.#deps.delegate.updated(params)
  }
}

/** The output that is kept of each released terminal, and of how many terminals. */
const MAX_OUTPUT_CHARS = 64 * 1024
const MAX_RELEASED_TERMINALS = 50

type Parts = readonly ToolCallContent[]

/** Terminals that tool calls show: the output of one stays visible when the agent releases it. */
class ShownTerminals {
  /** The output of released terminals. */
  readonly #released = new LruMap<string, string>(MAX_RELEASED_TERMINALS)
  /** The last content of each call that shows a live terminal. */
  readonly #calls = new Map<string, { readonly params: UpdateParams; readonly content: Parts }>()

  /** The update as it is shown: a released terminal is replaced by its output. */
  show(params: UpdateParams): UpdateParams {
    const { content } = params.update
    if (!params.update.sessionUpdate.startsWith('tool_call') || !Array.isArray(content)) return params
    const parts = (content as Parts).map((part) => this.#withOutput(part))
    const key = keyOf(params)
    if (parts.some(isTerminal)) this.#calls.set(key, { params, content: parts })
    else this.#calls.delete(key)
    return parts.some((part, at) => part !== content[at])
      ? withUpdate(params, { ...params.update, content: parts })
      : params
  }

  /** Returns the updates that show its calls with its output. */
  released(terminalId: string, output: string): readonly UpdateParams[] {
    this.#released.set(terminalId, output.slice(-MAX_OUTPUT_CHARS))
    const shown = [...this.#calls.values()].filter(({ content }) =>
      content.some((part) => isTerminal(part) && part.terminalId === terminalId),
    )
    return shown.map(({ params, content }) => {
      const { toolCallId } = params.update
      return this.show(withUpdate(params, { sessionUpdate: 'tool_call_update', toolCallId, content }))
    })
  }

  #withOutput(part: ToolCallContent): ToolCallContent {
    const output = isTerminal(part) ? this.#released.get(part.terminalId ?? '') : undefined
    return output === undefined ? part : { type: 'content', content: { type: 'text', text: output } }
  }
}

interface LastOutput {
  readonly terminalId: string
  readonly output: string
}

/** The output of the terminal that is to be released. */
async function lastOutputOf({ terminals }: ClientServices, params: unknown): Promise<LastOutput | undefined> {
  const { terminalId } = fieldsOf(params)
  if (terminals === undefined || typeof terminalId !== 'string') return undefined
  // An unknown terminal has none; the answer to `terminal/release` says so.
  const known = await terminals.output(terminalId).catch(() => undefined)
  return known && { terminalId, output: known.output }
}

function isTerminal({ type }: ToolCallContent): boolean {
  return type === 'terminal'
}

function keyOf({ sessionId, update }: UpdateParams): string {
  return JSON.stringify([sessionId, update['toolCallId']])
}

function withUpdate({ sessionId }: UpdateParams, update: Update): UpdateParams {
  return { sessionId, update }
}
