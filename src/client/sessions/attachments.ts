/** The sessions that a client has open: how far it has seen each, and which of its prompts have had no answer. */
import { ParleyError, isParleyError } from '../../errors/parley-error.ts'
import { fieldsOf } from '../initialize/capabilities.ts'
import { phaseOf } from '../incoming/notices.ts'
import type { Peer } from '../connection/json-rpc-peer.ts'
import type { UpdateParams } from '../incoming/updates.ts'

/** A session as it is opened: by its own directories. */
export interface Opening {
  readonly sessionId: string
  readonly cwd: string
  readonly additionalDirectories?: readonly string[] | null | undefined
}

/** A request as one connection carries it. */
export interface Carried {
  readonly peer: Peer
  readonly id: number
}

export interface Sending extends Carried {
  /** Aborts when the prompt is taken back: that is said again on a connection that takes the prompt over. */
  readonly withdrawn?: AbortSignal | undefined
  /** Called with the answer before the next message of the server is heard. */
  readonly answered?: (result: unknown) => void
}

interface OpenPrompt {
  readonly sessionId: string
  readonly promptId: string
  /** The connection that will bring the answer. */
  peer: Peer
  readonly withdrawn: AbortSignal | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

interface Attachment {
  opening: Opening
  /** The entry up to which it was seen. */
  seq: number
  /** False until the server has answered the request that opens it; whoever asks that asks it again. */
  isOpen: boolean
  /**
   * While an opening of it waits for its answer. `asked`: on a session that was open, and what comes is still the end of what
   * was followed before. `told`: what comes belongs to the new opening, from its first entry up to `seq`.
   */
  wish: { state: 'asked' | 'told'; readonly opening: Opening } | undefined
  /** Somebody has closed it: it is not taken up again, unless somebody has opened it. */
  isClosed: boolean
  /** A wish to cancel that may not have arrived. */
  cancelling: boolean
  /** Prompts of ours that were answered after the last update: their ends lie behind `seq`, and must not be told again. */
  ended: readonly string[]
  /** As they were when the session was opened. */
  model?: string | undefined
  agent?: string | undefined
}

interface Asked {
  readonly opening: Opening
  readonly after: number | undefined
  readonly carried: Carried
}

export class Attachments {
  readonly #open = new Map<string, Attachment>()
  /** By the id of their request, which stays the same on every connection. */
  readonly #prompts = new Map<number, OpenPrompt>()
  readonly #lost: (sessionId: string, reason: unknown) => void

  /** `lost` hears of a session that could not be taken up again. */
  constructor(lost: (sessionId: string, reason: unknown) => void) {
    this.#lost = lost
  }

  /** Begins to follow a session. Prompts that wait in it go on waiting; one that is open stays so until it is opened anew. */
  follow(opening: Opening): void {
    const former = this.#open.get(opening.sessionId)
    if (former?.isOpen === true && !former.isClosed) former.wish = { state: 'asked', opening }
    else this.#open.set(opening.sessionId, begun(opening))
  }

  /** Loads or resumes what `follow` was told to, from where its entries were lost if some have come. Gives the answer. */
  async open(method: 'session/load' | 'session/resume', sessionId: string, carried: Carried): Promise<unknown> {
    const attachment = this.#open.get(sessionId)
    if (attachment === undefined) return undefined
    const { seq, wish, opening } = attachment
    const after = wish?.state === 'told' && seq > 0 ? seq : undefined
    const result = await this.#ask(method, attachment, { opening: wish?.opening ?? opening, after, carried })
    // A resume from a cursor, or of a session that was open, is answered before all that lies up to the head has come.
    const isAhead = method === 'session/resume' && (after !== undefined || attachment.isOpen)
    this.opened(sessionId, result, isAhead ? 0 : seqOf(result))
    return result
  }

  /** The server has answered: all up to `head` has been told, or is not to be told. */
  opened(sessionId: string, result: unknown, head: number = seqOf(result)): void {
    const attachment = this.#open.get(sessionId)
    if (attachment === undefined) return
    attachment.opening = attachment.wish?.opening ?? attachment.opening
    attachment.wish = undefined
    attachment.isOpen = true
    attachment.isClosed = false
    attachment.seq = Math.max(attachment.seq, head)
    attachment.model = modelIn(result)
    attachment.agent = agentIn(result) ?? attachment.agent
  }

  /** The server has refused to open it; one that was open stays as it was. */
  refused(sessionId: string): void {
    const attachment = this.#open.get(sessionId)
    if (attachment?.isOpen === true && attachment.wish?.state === 'asked') attachment.wish = undefined
    else this.forget(sessionId)
  }

  /** Which model the agent said it asks when the session was opened, if it did. */
  modelOf(sessionId: string): string | undefined {
    return this.#open.get(sessionId)?.model
  }

  /** What answers in it, by the name that its server has for that, if it said so. */
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
    if (attachment !== undefined && (seq > attachment.seq || beginsAnew(attachment, seq))) {
      attachment.seq = seq
      attachment.ended = []
    }
    this.stands(params.sessionId, phaseOf(params))
  }

  /** What an update or a notice says of it, if it does. */
  stands(sessionId: string, phase: unknown): void {
    if (phase === undefined) return
    if (phase === 'deleted') return this.forget(sessionId)
    const attachment = this.#open.get(sessionId)
    if (attachment !== undefined) attachment.isClosed = phase === 'closed'
  }

  /** Closed, deleted, or refused: it is not taken up again. */
  forget(sessionId: string): void {
    this.#open.delete(sessionId)
  }

  /** Sends a prompt; its answer comes on whichever connection is there when the turn ends. */
  prompt(promptId: string, params: { readonly sessionId: string }, sending: Sending): Promise<unknown> {
    const { peer, id, answered, withdrawn } = sending
    const { sessionId } = params
    const attachment = this.#open.get(sessionId)
    if (attachment !== undefined) attachment.cancelling = false
    return new Promise<unknown>((resolve, reject) => {
      // Whoever awaits the promise hears of the answer some steps later, when the next messages may have been heard already.
      const resolveInOrder = (result: unknown): void => {
        answered?.(result)
        resolve(result)
      }
      this.#prompts.set(id, { sessionId, promptId, peer, withdrawn, resolve: resolveInOrder, reject })
      this.#settle(id, peer.request(id, 'session/prompt', params))
    })
  }

  /** Whether this client sent the prompt, and has had no answer. */
  isMine(promptId: unknown): boolean {
    return [...this.#prompts.values()].some((prompt) => prompt.promptId === promptId)
  }

  /** `sent` says whether there was a connection to say it on; either way it is said again if that is lost. */
  cancel(sessionId: string, sent: boolean): void {
    const attachment = this.#open.get(sessionId)
    const waits = [...this.#prompts.values()].some((prompt) => prompt.sessionId === sessionId)
    if (attachment !== undefined) attachment.cancelling = !sent || waits
  }

  /** Takes up every session on a new connection, from where it was lost. Throws when the connection is no use. */
  async takeUp(peer: Peer, newId: () => number): Promise<void> {
    // What a load had begun to replace stands on the answer to that load alone.
    for (const attachment of this.#open.values()) if (attachment.wish?.state === 'told') attachment.isOpen = false
    const open = [...this.#open]
      .filter(([, { isOpen, isClosed }]) => isOpen && !isClosed)
      .map(([sessionId]) => sessionId)
    await Promise.all(open.map((sessionId) => this.#resume(sessionId, { peer, id: newId() })))
    for (const { sessionId } of this.#prompts.values()) {
      if (!this.#open.has(sessionId))
        this.#reject(new ParleyError('CONNECTION_LOST', { method: 'session/prompt' }), sessionId)
    }
  }

  /** Nobody will answer. */
  giveUp(reason: unknown): void {
    this.#reject(reason)
  }

  async #resume(sessionId: string, carried: Carried): Promise<void> {
    const attachment = this.#open.get(sessionId)
    if (attachment === undefined) return
    const { opening, seq } = attachment
    try {
      attachment.model = modelIn(await this.#ask('session/resume', attachment, { opening, after: seq, carried }))
    } catch (error) {
      if (!isFinal(error)) throw asLoss(error)
      this.forget(sessionId)
      this.#reject(error, sessionId)
      this.#lost(sessionId, error)
    }
  }

  async #ask(method: string, attachment: Attachment, { opening, after, carried }: Asked): Promise<unknown> {
    const { sessionId } = opening
    const strays = this.#adopt(sessionId, carried.peer)
    const adopted = [...strays, ...attachment.ended.map(unheard)]
    const _meta = {
      ...(after === undefined ? {} : { 'parley/after': after }),
      ...(adopted.length === 0 ? {} : { 'parley/prompts': adopted }),
    }
    const params = { ...openingParams(opening), ...(Object.keys(_meta).length === 0 ? {} : { _meta }) }
    const result = await carried.peer.request(carried.id, method, params)
    if (attachment.cancelling) carried.peer.notify('session/cancel', { sessionId })
    for (const { requestId } of strays)
      if (this.#prompts.get(requestId)?.withdrawn?.aborted === true)
        carried.peer.notify('$/cancel_request', { requestId })
    return result
  }

  /** Prompts that another connection carried are answered on this one from now on. */
  #adopt(sessionId: string, peer: Peer) {
    const strays = [...this.#prompts].filter(([, prompt]) => prompt.sessionId === sessionId && prompt.peer !== peer)
    return strays.map(([requestId, prompt]) => {
      prompt.peer = peer
      this.#settle(requestId, peer.expect(requestId, 'session/prompt'))
      return { requestId, promptId: prompt.promptId }
    })
  }

  /** An answer settles the prompt; the loss of its connection does not. */
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

/** A load begins before the place that was reached; what came until then was the end of what was followed before. */
function beginsAnew({ wish, seq: reached }: Attachment, seq: number): boolean {
  if (wish?.state !== 'asked' || seq === 0 || seq >= reached) return false
  wish.state = 'told'
  return true
}

function begun(opening: Opening): Attachment {
  const wish = { state: 'told' as const, opening }
  return { opening, seq: 0, isOpen: false, wish, isClosed: false, cancelling: false, ended: [] }
}

/** Of the config options, the one that says which model is asked. */
function modelIn(told: unknown): string | undefined {
  const options = fieldsOf(told)['configOptions']
  const all = Array.isArray(options) ? (options as readonly unknown[]).map(fieldsOf) : []
  const value = all.find(({ category }) => category === 'model')?.['currentValue']
  return typeof value === 'string' ? value : undefined
}

function agentIn(told: unknown): string | undefined {
  const agent = fieldsOf(fieldsOf(told)['_meta'])['parley/agent']
  return typeof agent === 'string' ? agent : undefined
}

/** Adopted, so that its end is an answer again and no news; nobody waits for that. */
function unheard(promptId: string, which: number) {
  return { requestId: `unheard-${which}`, promptId }
}

function seqOf(told: unknown): number {
  const seq = fieldsOf(fieldsOf(told)['_meta'])['parley/seq']
  return typeof seq === 'number' ? seq : 0
}

/** Whether a request was lost with its connection, and not refused. */
export function isLost(error: unknown): boolean {
  return isParleyError(error, 'CONNECTION_LOST')
}

function openingParams({ sessionId, cwd, additionalDirectories }: Opening) {
  const more = [...new Set(additionalDirectories ?? [])].filter((directory) => directory !== cwd)
  return { sessionId, cwd, ...(more.length === 0 ? {} : { additionalDirectories: more }), mcpServers: [] }
}

/** What no further attempt would change; any other refusal may be that of a server that is about to go. */
const FINAL: ReadonlySet<string> = new Set([
  'SESSION_NOT_FOUND',
  'SESSION_CLOSED',
  'SESSION_CWD_DIFFERS',
  'CURSOR_BEYOND',
  'DIRECTORY_MISSING',
  'PARAMS_INVALID',
])

function isFinal(error: unknown): boolean {
  return isParleyError(error, 'PEER_REFUSED') && FINAL.has(error.details.code)
}

/** A server that refuses for now is as good as lost; what ended the connection for a reason of ours keeps that reason. */
function asLoss(error: unknown): unknown {
  const isReason = isParleyError(error) && !isParleyError(error, 'PEER_REFUSED')
  return isReason ? error : new ParleyError('CONNECTION_LOST', { method: 'session/resume' }, error)
}
