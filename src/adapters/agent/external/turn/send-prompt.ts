/** One prompt that was written to an agent: it is written once, and ends with the response, or with the agent. */
import { fail, isParleyError } from '../../../../errors/parley-error.ts'
import type { StopReason } from '../../../../ports/agent.ts'
import type { Clock, Timer } from '../../../../ports/clock.ts'
import { onAbort } from '../../../../async/abort.ts'
import { refusalOf } from '../process/agent-process.ts'
import { requireLogin } from '../process/introduction.ts'
import { LOGIN_NEEDED, WireError } from '../process/wire-error.ts'
import type { AgentConversation } from '../reattach/conversation.ts'
import type { TurnUpdates } from '../updates/turn-updates.ts'
import { promptBlocks, stopReasonIn } from './prompt-blocks.ts'

/** What writing fails with if the last byte of the line did not go out: no agent has the prompt. */
const NOTHING_READ: ReadonlySet<string> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED'])

export interface OpenPromptParts {
  readonly conversation: AgentConversation
  readonly updates: TurnUpdates
  readonly clock: Clock
  /** The agent has answered, or is gone: what comes now is not part of the turn. */
  readonly over: () => void
  /** A sentence for the conversation. */
  readonly notice: (text: string) => Promise<void>
  /** A prompt that could not be written is not tried with another process. */
  readonly isLastTry: boolean
}

export class OpenPrompt {
  readonly updates: TurnUpdates
  /** Resolves when the agent owes nothing more for it. */
  readonly settled: Promise<void>
  readonly #parts: OpenPromptParts
  readonly #end: Promise<StopReason | undefined>
  #killTimer: Timer | undefined
  #isOver = false
  #stalledSeconds: number | undefined

  /** Writes the prompt. */
  constructor(parts: OpenPromptParts) {
    this.#parts = parts
    this.updates = parts.updates
    this.#end = this.#play()
    this.settled = this.#end.then(
      () => undefined,
      () => undefined,
    )
  }

  /**
   * The stop reason; undefined if the agent could not read the prompt, and another process of it may. Throws AGENT_GONE,
   * AGENT_STALLED, AGENT_LOGIN_NEEDED, AGENT_OUTPUT_TOO_LARGE and AGENT_FAILED.
   */
  get end(): Promise<StopReason | undefined> {
    return this.#end
  }

  /** The agent has been silent for longer than its user allows: it is ended, and the turn with it. */
  stalled(seconds: number): void {
    if (this.#isOver || this.isCancelled) return
    this.#stalledSeconds ??= seconds
    void this.#parts.conversation.process.stop('kill')
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get isCancelled(): boolean {
    return this.updates.turn.signal.aborted
  }

  async #play(): Promise<StopReason | undefined> {
    const { turn } = this.updates
    const stopListening = onAbort(turn.signal, () => void this.#cancel())
    try {
      return await this.#answered()
    } catch (error) {
      if (this.isCancelled) return 'cancelled'
      throw error
    } finally {
      this.#over()
      this.#killTimer?.cancel()
      stopListening()
    }
  }

  async #answered(): Promise<StopReason | undefined> {
    const { conversation, clock } = this.#parts
    const { process, sessionId, abilities, quirks, preamble } = conversation
    const { turn } = this.updates
    const prompt = promptBlocks(turn.prompt, abilities.promptKinds, preamble)
    const params = { sessionId, prompt, ...(turn.promptMeta && { _meta: turn.promptMeta }) }
    const answered = quirks.lateMs > 0 ? undefined : () => this.#over()
    const sent = await process.peer.send('session/prompt', params, answered).catch(this.#unwritten)
    if (sent === undefined) return undefined
    // From here on the agent may have read the prompt: it is not sent again.
    const gone = process.ended.then((reason) => this.#gone(reason))
    const response = await Promise.race([sent.result.catch(this.#refused), gone])
    if (quirks.lateMs > 0) await clock.sleep(quirks.lateMs)
    conversation.preamble = ''
    return this.#ended(stopReasonIn(response))
  }

  async #ended(stopReason: StopReason): Promise<StopReason> {
    const { updates } = this
    const { quirks, process } = this.#parts.conversation
    if (this.isCancelled) return 'cancelled'
    const { name } = process.launch
    if (stopReason === 'end_turn' && updates.isErrorText) fail('AGENT_FAILED', { reason: updates.beginning.trim() })
    if (stopReason === 'end_turn' && quirks.emptyEndIsError && !updates.hasSaid)
      fail('AGENT_FAILED', { reason: `${name} ended the turn without a word, which it does when its model fails.` })
    const isByRefusal = updates.wasRefused && (stopReason === 'cancelled' || updates.isRefusedSilently)
    if (isByRefusal) await this.#parts.notice(`${name} ended the turn because of the refusal.`)
    else if (stopReason === 'cancelled') await this.#parts.notice(`${name} cancelled the turn by itself.`)
    return stopReason
  }

  /** An agent that does not read is of no use, even if it lives. */
  readonly #unwritten = async (error: unknown): Promise<undefined> => {
    const { conversation, isLastTry } = this.#parts
    const { process } = conversation
    if (!isParleyError(error, 'PROCESS_GONE')) throw error
    await process.stop('kill')
    const isUnread = NOTHING_READ.has(String((error.cause as NodeJS.ErrnoException | undefined)?.code))
    return isUnread && !isLastTry && !this.isCancelled ? undefined : this.#gone(await process.ended)
  }

  #gone(reason: string): never {
    const { process } = this.#parts.conversation
    const { name } = process.launch
    if (this.#stalledSeconds !== undefined)
      return fail('AGENT_STALLED', { agent: name, seconds: this.#stalledSeconds, said: process.said })
    return process.peer.wroteTooLong
      ? fail('AGENT_OUTPUT_TOO_LARGE', { agent: name, limit: 64 * 1024 * 1024 })
      : fail('AGENT_GONE', { agent: name, reason })
  }

  readonly #refused = (error: unknown): never => {
    const { process, quirks, info } = this.#parts.conversation
    if (!(error instanceof WireError)) throw error
    // Some notice a login only when they start.
    if (error.code === LOGIN_NEEDED) void process.stop()
    requireLogin(error, process, info)
    // Its next prompt gets a fresh process.
    if (quirks.reloadAfter.some((pattern) => error.fits(pattern))) void process.stop()
    return fail('AGENT_FAILED', { reason: refusalOf(error, process) }, error)
  }

  /** The agent gets a cancel; if it does not end the turn then, it is ended itself, and only this session's. */
  async #cancel(): Promise<void> {
    const { conversation, clock } = this.#parts
    const { process, sessionId, quirks } = conversation
    this.#killTimer = clock.setTimer(quirks.cancelKillMs, () => void this.#kill())
    await process.peer.notify('session/cancel', { sessionId })
  }

  async #kill(): Promise<void> {
    const { conversation, notice } = this.#parts
    const { process, quirks } = conversation
    if (this.#isOver) return
    const seconds = Math.round(quirks.cancelKillMs / 1_000)
    await notice(`${process.launch.name} did not end the cancelled turn for ${seconds} s and was stopped.`)
    await process.stop('kill')
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts.over()
  }
}
