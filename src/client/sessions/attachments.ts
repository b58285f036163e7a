/** The sessions that a client has open: how far it has seen each, and which of its prompts have no response. */
import { KnownSettings } from './agent-settings.ts'
import { CodedError } from '../../errors/coded-error.ts'
import { fieldsOf } from '../../rpc/json-rpc.ts'
import { ClientError, isClientError, isLost } from '../client-error.ts'
import type { Peer } from '../connection/json-rpc-peer.ts'
import { phaseOf } from '../incoming/notices.ts'
import type { UpdateParams } from '../incoming/updates.ts'

/** A session to open, with its directories. */
export interface SessionToOpen {
  readonly sessionId: string
  readonly cwd: string
  readonly additionalDirectories?: readonly string[] | null | undefined
}

/** The connection and the id of a request. */
export interface Carrier {
  readonly peer: Peer
  readonly id: number
}

export interface PromptRequest extends Carrier {
  /** Aborts when the prompt is withdrawn; a connection that takes the prompt over repeats that to the server. */
  readonly withdrawn?: AbortSignal | undefined
  /** Called with the result before the next message of the server is handled. */
  readonly answered?: (result: unknown) => void
}

interface OpenPrompt {
  readonly sessionId: string
  readonly promptId: string
  /** The connection that will bring the response. */
  peer: Peer
  readonly withdrawn: AbortSignal | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

interface Attachment {
  opening: SessionToOpen
  /** The last entry that the client has. */
  seq: number
  /** False until the server has answered the request that opens it; the caller repeats that request on a new connection. */
  isOpen: boolean
  /**
   * A request to open the session that has no response yet. `asked`: the session was open, and updates still belong to the former
   * opening. `replaying`: updates belong to the new opening, from its first entry up to `seq`.
   */
  reopening: { state: 'asked' | 'replaying'; readonly opening: SessionToOpen } | undefined
  /** A client has closed it: it is not resumed on a new connection, unless a client has opened it again. */
  isClosed: boolean
  /** A cancel that may not have arrived. */
  isCancelling: boolean
  /** Our prompts that were answered after the last update: their ends lie after `seq`, and must not be shown again. */
  ended: readonly string[]
  /** As they were when the session was opened. */
  model?: string | undefined
  agent?: string | undefined
}

interface OpenRequest {
  readonly opening: SessionToOpen
  readonly after: number | undefined
  readonly carrier: Carrier
}

export class Attachments {
  /** The settings of the agents in the open sessions. */
  readonly settings = new KnownSettings()
  readonly #open = new Map<string, Attachment>()
  /** By the id of their request, which stays the same on every connection. */
  readonly #prompts = new Map<number, OpenPrompt>()
  readonly #lost: (sessionId: string, reason: unknown) => void

  /** `lost` is called for a session that could not be resumed on a new connection. */
  constructor(lost: (sessionId: string, reason: unknown) => void) {
    this.#lost = lost
  }

  /** Begins to follow a session. Its prompts still wait; a session that is open stays open until the new request succeeds. */
  follow(opening: SessionToOpen): void {
    const former = this.#open.get(opening.sessionId)
    if (former?.isOpen === true && !former.isClosed) former.reopening = { state: 'asked', opening }
    else this.#open.set(opening.sessionId, attachmentOf(opening))
  }

  /** Loads or resumes the session that was given to `follow`, after its last entry if some have come. Returns the result. */
  async open(method: 'session/load' | 'session/resume', sessionId: string, carrier: Carrier): Promise<unknown> {
    const attachment = this.#open.get(sessionId)
    if (attachment === undefined) return undefined
    const { seq, reopening, opening } = attachment
    const after = reopening?.state === 'replaying' && seq > 0 ? seq : undefined
    const result = await this.#ask(method, attachment, { opening: reopening?.opening ?? opening, after, carrier })
    // A resume from a cursor, or of a session that was open, is answered before all entries up to the head have come.
    const isAhead = method === 'session/resume' && (after !== undefined || attachment.isOpen)
    this.opened(sessionId, result, isAhead ? 0 : seqOf(result))
    return result
  }

  /** The server has answered: the entries up to `head` have come, or will not come. */
  opened(sessionId: string, result: unknown, head: number = seqOf(result)): void {
    const attachment = this.#open.get(sessionId)
    if (attachment === undefined) return
    attachment.opening = attachment.reopening?.opening ?? attachment.opening
    attachment.reopening = undefined
    attachment.isOpen = true
    attachment.isClosed = false
    attachment.seq = Math.max(attachment.seq, head)
    attachment.model = modelIn(result)
    attachment.agent = agentIn(result) ?? attachment.agent
  }

  /** The server has refused to open it; one that was open stays as it was. */
  refused(sessionId: string): void {
    const attachment = this.#open.get(sessionId)
    if (attachment?.isOpen === true && attachment.reopening?.state === 'asked') attachment.reopening = undefined
    else this.forget(sessionId)
  }

  /** The model that the agent named when the session was opened, if it did. */
  modelOf(sessionId: string): string | undefined {
    return this.#open.get(sessionId)?.model
  }

  /** The agent of the session, by the name that the server has for it, if it gave one. */
  agentOf(sessionId: string): string | undefined {
    return this.#open.get(sessionId)?.agent
  }

  /** Where the session may work; undefined when it is not open here. */
  rootsOf(sessionId: string): readonly string[] | undefined {
    const opening = this.#open.get(sessionId)?.opening
    return opening === undefined ? undefined : [opening.cwd, ...(opening.additionalDirectories ?? [])]
  }

  seen(params: UpdateParams): void {
    const attachment = this.#open.get(params.sessionId)
    const seq = seqOf(params)
    if (attachment !== undefined && (seq > attachment.seq || beginsReplay(attachment, seq))) {
      attachment.seq = seq
      attachment.ended = []
    }
    this.setPhase(params.sessionId, phaseOf(params))
  }

  /** The phase that an update or a notice carries, if it does. */
  setPhase(sessionId: string, phase: unknown): void {
    if (phase === undefined) return
    if (phase === 'deleted') return this.forget(sessionId)
    const attachment = this.#open.get(sessionId)
    if (attachment !== undefined) attachment.isClosed = phase === 'closed'
  }

  /** It was closed, deleted, or refused: it is not resumed again. */
  forget(sessionId: string): void {
    this.#open.delete(sessionId)
  }

  /** Sends a prompt. Its result arrives on whichever connection exists when the turn ends. */
  prompt(promptId: string, params: { readonly sessionId: string }, request: PromptRequest): Promise<unknown> {
    const { peer, id, answered, withdrawn } = request
    const { sessionId } = params
    const attachment = this.#open.get(sessionId)
    if (attachment !== undefined) attachment.isCancelling = false
    return new Promise<unknown>((resolve, reject) => {
      // A caller that awaits the promise resumes some microtasks later, when the next messages may have been handled already.
      const resolveInOrder = (result: unknown): void => {
        answered?.(result)
        resolve(result)
      }
      this.#prompts.set(id, { sessionId, promptId, peer, withdrawn, resolve: resolveInOrder, reject })
      this.#settle(id, peer.request(id, 'session/prompt', params))
    })
  }

  /** Whether this client sent the prompt and has no result. */
  isMine(promptId: unknown): boolean {
    return [...this.#prompts.values()].some((prompt) => prompt.promptId === promptId)
  }

  /** `wasSent`: there was a connection to send the cancel on. If that is lost, the cancel is repeated. */
  cancel(sessionId: string, wasSent: boolean): void {
    const attachment = this.#open.get(sessionId)
    const waits = [...this.#prompts.values()].some((prompt) => prompt.sessionId === sessionId)
    if (attachment !== undefined) attachment.isCancelling = !wasSent || waits
  }

  /** Resumes every session on a new connection after its last entry. Throws when the connection is of no use. */
  async resume(peer: Peer, newId: () => number): Promise<void> {
    // A session whose replay had begun is open only if that load succeeds.
    for (const attachment of this.#open.values())
      if (attachment.reopening?.state === 'replaying') attachment.isOpen = false
    const open = [...this.#open]
      .filter(([, { isOpen, isClosed }]) => isOpen && !isClosed)
      .map(([sessionId]) => sessionId)
    await Promise.all(open.map((sessionId) => this.#resume(sessionId, { peer, id: newId() })))
    for (const { sessionId } of this.#prompts.values()) {
      if (!this.#open.has(sessionId))
        this.#reject(new ClientError('CONNECTION_LOST', { method: 'session/prompt' }), sessionId)
    }
  }

  /** No server will answer: rejects every prompt. */
  giveUp(reason: unknown): void {
    this.#reject(reason)
  }

  async #resume(sessionId: string, carrier: Carrier): Promise<void> {
    const attachment = this.#open.get(sessionId)
    if (attachment === undefined) return
    const { opening, seq } = attachment
    try {
      attachment.model = modelIn(await this.#ask('session/resume', attachment, { opening, after: seq, carrier }))
    } catch (error) {
      if (!isPermanent(error)) throw asLoss(error)
      this.forget(sessionId)
      this.#reject(error, sessionId)
      this.#lost(sessionId, error)
    }
  }

  async #ask(method: string, attachment: Attachment, { opening, after, carrier }: OpenRequest): Promise<unknown> {
    const { sessionId } = opening
    const orphans = this.#adopt(sessionId, carrier.peer)
    const adopted = [...orphans, ...attachment.ended.map(discarded)]
    const _meta = {
      ...(after === undefined ? {} : { 'parley/after': after }),
      ...(adopted.length === 0 ? {} : { 'parley/prompts': adopted }),
    }
    const params = { ...openingParams(opening), ...(Object.keys(_meta).length === 0 ? {} : { _meta }) }
    const result = await carrier.peer.request(carrier.id, method, params)
    if (attachment.isCancelling) carrier.peer.notify('session/cancel', { sessionId })
    for (const { requestId } of orphans)
      if (this.#prompts.get(requestId)?.withdrawn?.aborted === true)
        carrier.peer.notify('$/cancel_request', { requestId })
    return result
  }

  /** Prompts that were sent on another connection are answered on this one from now on. */
  #adopt(sessionId: string, peer: Peer) {
    const orphans = [...this.#prompts].filter(([, prompt]) => prompt.sessionId === sessionId && prompt.peer !== peer)
    return orphans.map(([requestId, prompt]) => {
      prompt.peer = peer
      this.#settle(requestId, peer.expect(requestId, 'session/prompt'))
      return { requestId, promptId: prompt.promptId }
    })
  }

  /** A response settles the prompt; the loss of its connection does not. */
  #settle(id: number, answer: Promise<unknown>): void {
    const prompt = this.#prompts.get(id)
    answer.then(
      (result) => {
        this.#answered(id)
        prompt?.resolve(result)
      },
      (error: unknown) => {
        if (isLost(error)) return
        this.#answered(id)
        prompt?.reject(error)
      },
    )
  }

  #answered(id: number): void {
    const { sessionId, promptId } = this.#prompts.get(id) ?? {}
    this.#prompts.delete(id)
    const attachment = this.#open.get(sessionId ?? '')
    if (attachment !== undefined && promptId !== undefined) attachment.ended = [...attachment.ended, promptId]
  }

  #reject(reason: unknown, sessionId?: string): void {
    for (const [id, prompt] of this.#prompts) {
      if (sessionId !== undefined && prompt.sessionId !== sessionId) continue
      this.#prompts.delete(id)
      prompt.reject(reason)
    }
  }
}

/** A replay begins before the entry that was reached; updates until then belong to the former opening. */
function beginsReplay({ reopening, seq: reached }: Attachment, seq: number): boolean {
  if (reopening?.state !== 'asked' || seq === 0 || seq >= reached) return false
  reopening.state = 'replaying'
  return true
}

function attachmentOf(opening: SessionToOpen): Attachment {
  const reopening = { state: 'replaying' as const, opening }
  return { opening, seq: 0, isOpen: false, reopening, isClosed: false, isCancelling: false, ended: [] }
}

/** The value of the config option that names the model. */
function modelIn(result: unknown): string | undefined {
  const options = fieldsOf(result)['configOptions']
  const all = Array.isArray(options) ? (options as readonly unknown[]).map(fieldsOf) : []
  const value = all.find(({ category }) => category === 'model')?.['currentValue']
  return typeof value === 'string' ? value : undefined
}

function agentIn(result: unknown): string | undefined {
  const agent = fieldsOf(fieldsOf(result)['_meta'])['parley/agent']
  return typeof agent === 'string' ? agent : undefined
}

/** Adopted, so that its end comes as a response and not as an update; the response is ignored. */
function discarded(promptId: string, which: number) {
  return { requestId: `unheard-${which}`, promptId }
}

/** The entry that an update or a result names; 0 if it names none. */
export function seqOf(message: unknown): number {
  const seq = fieldsOf(fieldsOf(message)['_meta'])['parley/seq']
  return typeof seq === 'number' ? seq : 0
}

function openingParams({ sessionId, cwd, additionalDirectories }: SessionToOpen) {
  const more = [...new Set(additionalDirectories ?? [])].filter((directory) => directory !== cwd)
  return { sessionId, cwd, ...(more.length === 0 ? {} : { additionalDirectories: more }), mcpServers: [] }
}

/** Refusals that a further attempt would not change. Any other may come from a server that is about to stop. */
const PERMANENT: ReadonlySet<string> = new Set([
  'SESSION_NOT_FOUND',
  'SESSION_CLOSED',
  'SESSION_CWD_DIFFERS',
  'CURSOR_BEYOND',
  'DIRECTORY_MISSING',
  'PARAMS_INVALID',
])

function isPermanent(error: unknown): boolean {
  return isClientError(error, 'PEER_REFUSED') && PERMANENT.has(error.details.code)
}

/** A temporary refusal counts as a lost connection. A reason of ours for which the connection ended stays that reason. */
function asLoss(error: unknown): unknown {
  const isReason = error instanceof CodedError && !isClientError(error, 'PEER_REFUSED')
  return isReason ? error : new ClientError('CONNECTION_LOST', { method: 'session/resume' }, error)
}
