/** The turns of one agent: the prompt that it works on, and a turn that it began by itself. Decides to which of them an update belongs. */
import { unlessAborted } from '../../../../async/abort.ts'
import { waitAtMost } from '../../../../async/with-timeout.ts'
import { isParleyError } from '../../../../errors/parley-error.ts'
import type { AgentSession, StopReason, Turn } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import type { AgentConversation } from '../reattach/conversation.ts'
import type { SaidUpdate } from '../updates/read-update.ts'
import { PROTOCOL, TurnUpdates } from '../updates/turn-updates.ts'
import { OpenPrompt } from './send-prompt.ts'
import { OwnTurn } from './own-turn.ts'
import { QuietWatch } from './quiet-watch.ts'

/** Words that come so soon after the end of a turn belong to it, unless they say otherwise. */
const LATE_MS = 2_000
/** The core gives a turn to its agent at once; if it does not, the words are not held up for it. */
const OWN_TURN_MS = 5_000

export class AgentTurns {
  readonly #session: AgentSession
  readonly #clock: Clock
  readonly #quietMs: number
  #prompt: OpenPrompt | undefined
  #own: OwnTurn | undefined
  /** Waits for the turn that was begun for what the agent says by itself. */
  #owning: ((own: OwnTurn | undefined) => void) | undefined
  #beginning: Promise<OwnTurn | undefined> | undefined
  #watch: QuietWatch | undefined
  #last: { readonly updates: TurnUpdates; readonly at: number } | undefined
  /** Resolves when there is room for more than what was said last. */
  #room: Promise<void> | undefined

  /** `quietMs`: how long an agent says nothing in a turn before clients are notified. */
  constructor(session: AgentSession, clock: Clock, quietMs: number) {
    this.#session = session
    this.#clock = clock
    this.#quietMs = quietMs
  }

  /** The agent owes an answer, or works by itself. */
  get isBusy(): boolean {
    return this.#prompt?.isOver === false || this.#own !== undefined
  }

  /** When the agent fell silent in the prompt that it works on, on the monotonic clock; undefined if it was just heard. */
  get quietSince(): number | undefined {
    return this.#watch?.quietSince
  }

  /** What a running prompt says goes there. */
  get promptTurn(): TurnUpdates | undefined {
    return this.#prompt?.isOver === false ? this.#prompt.updates : undefined
  }

  /** The turn that the agent has begun by itself; begun for it if there is none. */
  async ownTurn(): Promise<OwnTurn | undefined> {
    return this.#own ?? (await this.#beginOwn())
  }

  /** The agent said that it has nothing more to do by itself. */
  endOwn(): void {
    this.#own?.end()
  }

  /** Writes the prompt to the agent, once; undefined if it could not be written, unless this is the last try. */
  async prompt(turn: Turn, conversation: AgentConversation, isLastTry: boolean): Promise<StopReason | undefined> {
    const updates = new TurnUpdates(turn, conversation.quirks)
    const prompt = new OpenPrompt({
      conversation,
      updates,
      clock: this.#clock,
      over: () => (this.#last = { updates, at: this.#clock.monotonicNow() }),
      notice: (text) => this.#session.notice(text, 'again'),
      isLastTry,
    })
    this.#prompt = prompt
    const { process } = conversation
    const { stallMinutes } = process.launch
    const watch = new QuietWatch({
      session: this.#session,
      process,
      updates,
      clock: this.#clock,
      quietMs: this.#quietMs,
      ...(stallMinutes !== undefined && { stallMs: stallMinutes * 60_000 }),
      stalled: (seconds) => prompt.stalled(seconds),
    })
    this.#watch = watch
    void prompt.settled.then(() => watch.stop())
    return prompt.end
  }

  /** Plays the turn that was begun for the agent. */
  async own(turn: Turn, conversation: AgentConversation): Promise<StopReason> {
    const own = new OwnTurn(new TurnUpdates(turn, conversation.quirks), this.#clock)
    this.#own = own
    this.#owning?.(own)
    try {
      return await own.play(this.#session, conversation)
    } finally {
      this.#own = undefined
      this.#last = { updates: own.updates, at: this.#clock.monotonicNow() }
    }
  }

  /** A cancelled prompt that the agent has not answered yet is waited for: two prompts are never open at once. */
  async held(signal: Signal): Promise<void> {
    const prompt = this.#prompt
    if (prompt === undefined || prompt.isOver) return
    await unlessAborted(prompt.settled, signal, () => new Error('it was cancelled'))
  }

  /** An agent whose stdin ends in the middle of a turn may lose the whole turn: it gets time to end it. */
  async settled(): Promise<void> {
    if (this.#prompt?.isOver === false) await waitAtMost(this.#prompt.settled, { clock: this.#clock, ms: LATE_MS })
  }

  /** Words and calls, in a turn and outside of one. The promise of what must be done before anything else is handled, if any. */
  spoken(said: SaidUpdate): Promise<void> | undefined {
    const updates = this.promptTurn
    if (updates !== undefined) return this.#inTurn(updates, said)
    return this.#isLate(said) ? this.#late(said) : this.#unasked(said)
  }

  /** Undefined if the last words were stored as they came. */
  room(): Promise<void> | undefined {
    const room = this.#room
    this.#room = undefined
    return room
  }

  /** What becomes an entry is in its place as soon as it is said; a notice is shown after all that came before it. */
  #inTurn(updates: TurnUpdates, said: SaidUpdate): Promise<void> | undefined {
    const { turn } = updates
    const applied = updates.apply(said)?.catch((error: unknown) => {
      // Once the core has ended a cancelled turn, what the agent still says of it comes late. Words that follow some that could not
      // be stored are lost with them: they would follow a gap.
      return isParleyError(error, 'TURN_OVER') ? this.#late(said, turn.turnId) : undefined
    })
    if (said.kind === 'notice') return applied
    this.#room = applied ?? this.#room
    return undefined
  }

  async #unasked(said: SaidUpdate): Promise<void> {
    const own = await this.ownTurn()
    if (own === undefined) return this.#late(said)
    own.heard()
    return this.#inTurn(own.updates, said)
  }

  #isLate(said: SaidUpdate): boolean {
    if (said.kind === 'foreign' || said.kind === 'notice') return this.#own === undefined
    return (
      this.#last !== undefined && this.#clock.monotonicNow() - this.#last.at <= LATE_MS && this.#last.updates.owns(said)
    )
  }

  /** Of a turn that has ended; `turnId`: surely of this one. */
  async #late(said: SaidUpdate, turnId?: string): Promise<void> {
    switch (said.kind) {
      case 'chunk': {
        const { role, content, messageId } = said
        const part = messageId === undefined ? {} : { messageId }
        if (role !== 'user') await this.#session.update({ kind: 'chunk', role, content, ...part }, turnId)
        return
      }
      case 'call':
        await this.#session.update({ kind: 'call', toolCallId: said.toolCallId, patch: said.patch }, turnId)
        return
      case 'foreign':
        await this.#session.update({ kind: 'foreign', protocol: PROTOCOL, update: said.update })
        return
      default:
    }
  }

  /** The agent works by itself: it gets a turn. Undefined if another turn has just begun. */
  #beginOwn(): Promise<OwnTurn | undefined> {
    this.#beginning ??= this.#begun().finally(() => (this.#beginning = undefined))
    return this.#beginning
  }

  async #begun(): Promise<OwnTurn | undefined> {
    // What comes in one read with the response of a prompt is handled before the core has ended that turn.
    await this.#prompt?.settled
    await this.#clock.nextTick()
    const given = new Promise<OwnTurn | undefined>((resolve) => (this.#owning = resolve))
    const hasBegun = await this.#session.beginTurn().catch(() => false)
    if (!hasBegun) return undefined
    return waitAtMost(given, { clock: this.#clock, ms: OWN_TURN_MS })
  }
}
