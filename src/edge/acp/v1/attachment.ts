/** One client's view of one session: entries become updates, ends become responses, questions become requests. */
import { ParleyError, isParleyError } from '../../../errors/parley-error.ts'
import type { Entry } from '../../../session/entries.ts'
import type { Feed, Sink } from '../../../session/feed.ts'
import type { Session } from '../../../session/session.ts'
import { withdrawn } from '../../../session/evolve.ts'
import { type EndedPrompt, type OpenQuestion, type State, isBusy } from '../../../session/state.ts'
import type { Wire } from '../../transport/wire.ts'
import type { Outbox, Reply } from '../outbox.ts'
import { type RequestId, errorLine, failureLine, notificationLine, requestLine, resultLine } from '../protocol.ts'
import { commandsUpdate, titleUpdate, updateJson } from './project.ts'

export interface ClientSide {
  readonly wire: Wire
  readonly outbox: Outbox
  /** Reads the client's answer to a permission request: the chosen option, or null for anything else. */
  optionOf(reply: Reply): string | null
  report(error: unknown): void
}

/** A prompt of this client's former connection, and the request that still waits for its end. */
export interface AdoptedPrompt {
  readonly promptId: string
  readonly requestId: RequestId
}

export class Attachment implements Sink {
  readonly session: Session
  readonly #client: ClientSide
  readonly #feed: Feed
  readonly #prefix: string
  /** Prompts of this connection that wait for their end, and the requests that wait with them. */
  readonly #prompts = new Map<string, RequestId[]>()
  /** Those of them that are still being stored: whoever stores them says so if that fails. */
  readonly #arriving = new Set<string>()
  #asked: { readonly requestId: string; readonly rpcId: string } | undefined
  #replaying = false

  constructor(session: Session, client: ClientSide, from: number) {
    this.session = session
    this.#client = client
    this.#prefix = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${JSON.stringify(session.id)},"update":`
    this.#feed = session.attach(this, from)
  }

  /** All that was said, then the state as it is; whatever comes meanwhile waits. */
  async replay(): Promise<void> {
    this.#replaying = true
    await this.#feed.replay(this.session.state.seq)
    this.#replaying = false
    this.tellState()
  }

  /** What a client needs to know besides the conversation: only the latest of each. */
  tellState(): void {
    const { title, commands } = this.session.existing
    const updates = [
      ...(title === null ? [] : [titleUpdate(title)]),
      ...(commands.length === 0 ? [] : [commandsUpdate(commands)]),
    ]
    this.#send(updates.map((update) => this.#line(JSON.stringify(update), this.#feed.cursor)).join(''))
  }

  /** From here on everything as it is stored; an open question is put to this client too. */
  async goLive(): Promise<void> {
    await this.#feed.goLive()
    this.#answerWhatIsOver()
    this.#askOpenQuestion()
  }

  /** Takes over the prompts of an earlier view of the same session on this connection, and asks its question anew. */
  inherit(former: Attachment): void {
    for (const [promptId, rpcIds] of former.#prompts) this.#prompts.set(promptId, rpcIds)
    former.#prompts.clear()
    if (former.#asked !== undefined) this.#send(former.#withdrawQuestion(former.#asked.requestId))
  }

  /** Each is answered on this connection, after the entries up to its end. */
  adopt(prompts: readonly AdoptedPrompt[]): void {
    for (const { promptId, requestId } of prompts)
      this.#prompts.set(promptId, [...(this.#prompts.get(promptId) ?? []), requestId])
  }

  /** The prompts of this connection that have not ended. */
  openPrompts(): readonly string[] {
    return [...this.#prompts.keys()]
  }

  promptOf(rpcId: RequestId): string | undefined {
    return this.openPrompts().find((promptId) => this.#prompts.get(promptId)?.includes(rpcId))
  }

  /** From now on the end of `promptId` answers `rpcId`. */
  expectEnd(promptId: string, rpcId: RequestId): void {
    this.#prompts.set(promptId, [...(this.#prompts.get(promptId) ?? []), rpcId])
    this.#arriving.add(promptId)
  }

  /** The prompt is stored: its end is an entry. */
  accepted(promptId: string): void {
    this.#arriving.delete(promptId)
  }

  /** The request was refused and waits no longer; false when it has been answered already. */
  refused(promptId: string, rpcId: RequestId): boolean {
    this.#arriving.delete(promptId)
    const waiting = this.#prompts.get(promptId) ?? []
    const others = waiting.filter((id) => id !== rpcId)
    if (others.length === 0) this.#prompts.delete(promptId)
    else this.#prompts.set(promptId, others)
    return others.length < waiting.length
  }

  /** Answers the requests that wait for a prompt which ended before they came. */
  answerEnded(ended: EndedPrompt): void {
    this.#send(this.#answers(ended))
  }

  take(entries: readonly Entry[]): void {
    let lines = ''
    for (const entry of entries) lines += this.#told(entry)
    this.#send(lines)
    if (!this.#replaying) this.#askOpenQuestion()
  }

  congested(): boolean {
    return this.#client.wire.congested()
  }

  room(): Promise<void> {
    return this.#client.wire.room()
  }

  /** What could not be stored will not be told; whoever waits for it hears why. */
  failed(error: unknown): void {
    const known = isParleyError(error) ? error : new ParleyError('INTERNAL_ERROR', {}, error)
    for (const [promptId, rpcIds] of this.#prompts) {
      if (this.#stillComes(promptId)) continue
      for (const id of rpcIds) this.#send(errorLine(id, known))
      this.#prompts.delete(promptId)
    }
  }

  detach(): void {
    this.#feed.end()
    if (this.#asked !== undefined) this.#client.outbox.withdraw(this.#asked.rpcId)
  }

  /** A prompt that waits in the queue has its turn, whatever became of the one before it. */
  #stillComes(promptId: string): boolean {
    const { state, isGone } = this.session
    const isQueued = isBusy(state) && state.queue.some((queued) => queued.promptId === promptId)
    return this.#arriving.has(promptId) || (isQueued && !isGone)
  }

  /** What ended before this view began is told by no entry; what the session does not know was never accepted. */
  #answerWhatIsOver(): void {
    const { existing } = this.session
    for (const promptId of this.openPrompts()) {
      if (this.#arriving.has(promptId) || isOpen(promptId, existing)) continue
      const ended = existing.ended.findLast((prompt) => prompt.promptId === promptId)
      this.answerEnded(ended ?? { promptId, stopReason: 'interrupted' })
    }
  }

  #told(entry: Entry): string {
    if (this.#replaying) return this.#replayed(entry)
    if (entry.kind === 'prompt_withdrawn') return this.#end(entry)
    if (entry.kind === 'turn_ended') {
      // Its sender hears of the end in the response, everyone else in the transcript.
      return this.#prompts.has(entry.promptId) ? this.#end(entry) : this.#update(entry)
    }
    if (entry.kind === 'permission_resolved') return this.#withdrawQuestion(entry.requestId)
    const isOwnEcho = entry.kind === 'message_chunk' && entry.role === 'user' && this.#prompts.has(entry.promptId)
    return isOwnEcho ? '' : this.#update(entry)
  }

  /** The whole conversation; whoever was slow may hear of the end of its own prompt only here. */
  #replayed(entry: Entry): string {
    if (STATE_ONLY.has(entry.kind)) return ''
    const isEnd = entry.kind === 'turn_ended' || entry.kind === 'prompt_withdrawn'
    return this.#update(entry) + (isEnd ? this.#end(entry) : '')
  }

  #end(entry: Entry & { readonly kind: 'turn_ended' | 'prompt_withdrawn' }): string {
    if (entry.kind === 'turn_ended') return this.#answers(entry)
    return this.#answers(withdrawn(entry))
  }

  #update(entry: Entry): string {
    const json = updateJson(entry)
    return json === null ? '' : this.#line(json, entry.seq)
  }

  #line(update: string, seq: number): string {
    return `${this.#prefix}${update},"_meta":{"parley/seq":${seq}}}}\n`
  }

  #answers(ended: EndedPrompt): string {
    const rpcIds = this.#prompts.get(ended.promptId) ?? []
    this.#prompts.delete(ended.promptId)
    return rpcIds.map((id) => answerLine(id, ended, this.session.id)).join('')
  }

  #askOpenQuestion(): void {
    const { state } = this.session
    if (state.phase !== 'waiting' && state.phase !== 'suspended') return
    const { question } = state
    if (this.#asked?.requestId === question.requestId || this.#feed.cursor < state.seq) return
    const rpcId = this.#client.outbox.open((reply) => this.#answered(question.requestId, reply))
    this.#asked = { requestId: question.requestId, rpcId }
    this.#send(requestLine(rpcId, 'session/request_permission', permissionParams(this.session.id, question)))
  }

  #answered(requestId: string, reply: Reply): void {
    this.#asked = undefined
    const optionId = this.#client.optionOf(reply)
    // A client that errs or makes up an option has not answered; others still may. Nobody else there: that is a no.
    if (!this.#isOffered(optionId) && this.session.clients.length > 1) return
    this.session.dispatch({ kind: 'answer', requestId, optionId }).catch((error: unknown) => {
      // Somebody else was first, which is how it should be.
      if (!isParleyError(error, 'PERMISSION_UNKNOWN')) this.#client.report(error)
    })
  }

  #isOffered(optionId: string | null): boolean {
    const { state } = this.session
    if (state.phase !== 'waiting' && state.phase !== 'suspended') return false
    return state.question.options.some((option) => option.optionId === optionId)
  }

  #withdrawQuestion(requestId: string): string {
    const asked = this.#asked
    if (asked?.requestId !== requestId) return ''
    this.#asked = undefined
    this.#client.outbox.withdraw(asked.rpcId)
    return notificationLine('$/cancel_request', { requestId: asked.rpcId })
  }

  #send(lines: string): void {
    if (lines !== '') this.#client.wire.send(lines)
  }
}

function isOpen(promptId: string, state: State): boolean {
  return isBusy(state) && [state.turn, ...state.queue].some((prompt) => prompt.promptId === promptId)
}

/** Told once, at the end of a replay, as they are by then. */
const STATE_ONLY: ReadonlySet<Entry['kind']> = new Set(['title', 'commands'])

function answerLine(id: RequestId, { stopReason, error }: EndedPrompt, session: string): string {
  switch (stopReason) {
    case 'interrupted':
      return errorLine(id, new ParleyError('TURN_INTERRUPTED', { session }))
    case 'error':
      return failureLine(id, error ?? { code: 'AGENT_FAILED', message: 'The agent failed.' })
    case 'withdrawn':
      return resultLine(id, { stopReason: 'cancelled' })
    default:
      return resultLine(id, { stopReason })
  }
}

function permissionParams(sessionId: string, { toolCallId, call, options }: OpenQuestion) {
  return { sessionId, toolCall: { ...call, toolCallId }, options }
}
