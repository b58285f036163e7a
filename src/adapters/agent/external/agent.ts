/**
 * An ACP agent behind one session. Its process starts with the first prompt (or with a new session), ends when it was idle for
 * long, and comes back with the next prompt: its own conversation reopened, or told what it does not know.
 */
import { unlessAborted } from '../../../async/abort.ts'
import { waitAtMost } from '../../../async/with-timeout.ts'
import type { Agent, AgentCapabilities, AgentSession, StopReason, Turn } from '../../../ports/agent.ts'
import type { Timer } from '../../../ports/clock.ts'
import type { ConfigValue } from '../../../ports/values/settings.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import { fieldsOf } from '../../../rpc/json-rpc.ts'
import type { PeerListener } from './process/peer.ts'
import { maskedJson } from './process/secrets.ts'
import { type Quirks, SAFE } from './quirks.ts'
import { type Conversation, closeConversation } from './reattach/conversation.ts'
import { hasMoved } from './reattach/divergence.ts'
import type { Replay } from './reattach/replay.ts'
import { AgentRequests, type AskingAgent } from './requests/agent-requests.ts'
import { LiveSettings } from './settings/live-settings.ts'
import type { LiveAgent } from './supervision/live-agents.ts'
import { AgentStarter } from './supervision/starter.ts'
import type { ExternalParts } from './supervision/parts.ts'
import { OpenPrompt } from './turn/send-prompt.ts'
import { OwnTurn, endsOwnTurn } from './turn/own-turn.ts'
import { type SaidUpdate, readUpdate } from './updates/read-update.ts'
import { TurnUpdates } from './updates/turn-updates.ts'

/** Words that come so soon after the end of a turn belong to it, unless they say otherwise. */
const LATE_MS = 2_000
/** The core gives a turn to its agent at once; if it does not, the words are not held up for it. */
const OWN_TURN_MS = 5_000
/** A new session waits so long for what an agent offers that nobody has met yet. */
const FIRST_OFFER_MS = 3_000

export class ExternalAgent implements Agent, PeerListener, AskingAgent, LiveAgent {
  /** Its full name. */
  readonly name: string
  readonly #parts: ExternalParts
  readonly #session: AgentSession
  readonly #settings: LiveSettings
  readonly #requests: AgentRequests
  readonly #starter: AgentStarter
  #conversation: Conversation | undefined
  #replay: Replay | undefined
  #prompt: OpenPrompt | undefined
  #own: OwnTurn | undefined
  /** Waits for the turn that was begun for what the agent says by itself. */
  #owning: ((own: OwnTurn | undefined) => void) | undefined
  #beginning: Promise<OwnTurn | undefined> | undefined
  #last: { readonly updates: TurnUpdates; readonly at: number } | undefined
  #idle: Timer | undefined
  #offered: () => void = () => undefined
  #isClosed = false
  /** Turns and starts that are under way. */
  #busy = 0
  #idleSince: number | undefined

  constructor(name: string, session: AgentSession, parts: ExternalParts) {
    this.name = name
    this.#parts = parts
    this.#session = session
    this.#settings = new LiveSettings(name, session, parts)
    this.#requests = new AgentRequests(this, (sentence) => {
      void session.notice(`${name.replace(/^acp:/u, '')} ${sentence}`)
    })
    this.#starter = new AgentStarter(name, session, parts)
  }

  get idleSince(): number | undefined {
    return this.#busy > 0 || this.#prompt?.isOver === false ? undefined : this.#idleSince
  }

  get capabilities(): AgentCapabilities {
    return this.#settings.capabilities
  }

  /** A session that is being created: its agent starts at once, and is waited for only if nobody knows what it offers. */
  async begin(): Promise<void> {
    const { catalogue, clock, never, report } = this.#parts
    const offered = new Promise<void>((resolve) => (this.#offered = resolve))
    this.#busy += 1
    const starting = this.#open(undefined, never)
      .catch(report)
      .finally(() => {
        this.#busy -= 1
        this.#restIdle()
      })
    // It is open once the session exists, which waits for this.
    if (catalogue.offers(this.name) === undefined)
      await waitAtMost(Promise.race([offered, starting]), { clock, ms: FIRST_OFFER_MS })
  }

  setMode(modeId: string): Promise<void> {
    return this.#settings.setMode(modeId)
  }

  setConfigOption(configId: string, value: ConfigValue): Promise<void> {
    return this.#settings.setConfigOption(configId, value)
  }

  async run(turn: Turn): Promise<StopReason> {
    this.#idle?.cancel()
    this.#busy += 1
    try {
      return turn.by === 'agent' ? await this.#runOwn(turn) : await this.#runPrompt(turn)
    } finally {
      this.#busy -= 1
      this.#restIdle()
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.unload()
    this.#starter.close()
  }

  /** Ends the process; the next prompt starts another. */
  async unload(): Promise<void> {
    this.#idle?.cancel()
    const conversation = this.#conversation
    this.#conversation = undefined
    if (conversation !== undefined) {
      // An agent whose stdin ends in the middle of a turn may lose the whole turn.
      if (this.#prompt?.isOver === false)
        await waitAtMost(this.#prompt.settled, { clock: this.#parts.clock, ms: LATE_MS })
      await closeConversation(conversation, this.#parts.clock)
    }
    await this.#starter.stop()
    this.#settings.closed()
  }

  // What the agent says

  async notified(method: string, params: unknown): Promise<void> {
    const { sessionId, update } = fieldsOf(params)
    if (method === 'elicitation/complete') return this.#requests.completed(params)
    if (method !== 'session/update') return this.noise(`ignored the notification ${method}`)
    const process = this.#starter.process
    const said = readUpdate(process === undefined ? update : maskedJson(update, process.mask))
    if (this.#replay !== undefined) return this.#replayed(this.#replay, said)
    const known = this.#conversation?.sessionId
    if (known !== undefined && known !== sessionId)
      return this.noise(`ignored an update of session ${String(sessionId)}`)
    if (await this.#aboutSession(said)) {
      if (this.#own !== undefined && endsOwnTurn(update, this.#quirks.turnSignals)) this.#own.end()
      return undefined
    }
    await this.#spoken(said)
  }

  requested(method: string, params: unknown): Promise<unknown> | undefined {
    return this.#requests.answer(method, params, this.#quirks)
  }

  noise(line: string): void {
    this.#starter.process?.note(line)
  }

  // Turns

  async #runPrompt(turn: Turn): Promise<StopReason> {
    await this.#held(turn.signal)
    for (let attempt = 1; ; attempt += 1) {
      const conversation = await this.#reached(turn)
      // It died before the prompt was written: nothing was sent yet, so it may be tried once more.
      await this.#parts.clock.nextTick()
      if (conversation.process.isGone && attempt === 1) continue
      return this.#send(conversation, turn)
    }
  }

  async #send(conversation: Conversation, turn: Turn): Promise<StopReason> {
    const updates = new TurnUpdates(turn, conversation.quirks)
    const prompt = new OpenPrompt({
      conversation,
      updates,
      clock: this.#parts.clock,
      over: () => (this.#last = { updates, at: this.#parts.clock.monotonicNow() }),
      notice: (text) => this.#session.notice(text),
    })
    this.#prompt = prompt
    return prompt.end
  }

  /** A cancelled prompt that the agent has not answered yet is waited for: two prompts are never open at once. */
  async #held(signal: Signal): Promise<void> {
    const prompt = this.#prompt
    if (prompt === undefined || prompt.isOver) return
    await unlessAborted(prompt.settled, signal, () => new Error('it was cancelled'))
  }

  async #reached(turn: Turn): Promise<Conversation> {
    const conversation = this.#conversation
    if (conversation !== undefined && !conversation.process.isGone && !(await this.#isOutdated(conversation)))
      return conversation
    return this.#open(turn, turn.signal)
  }

  /** Somebody went on with the session elsewhere, which a running agent does not notice: it is ended, and loads it anew. */
  async #isOutdated(conversation: Conversation): Promise<boolean> {
    const { clock, outside } = this.#parts
    const { memory } = this.#session
    const idleMs = clock.monotonicNow() - (this.#idleSince ?? clock.monotonicNow())
    const { canList, canLoad } = conversation.abilities
    if (idleMs < outside.lookAfterMs || memory === undefined || !canList || !canLoad) return false
    if (!(await hasMoved(conversation.process, memory, this.#parts))) return false
    await this.unload()
    return true
  }

  async #open(turn: Turn | undefined, signal: Signal): Promise<Conversation> {
    const { before } = this.#settings
    const conversation = await this.#starter.open({
      agent: this,
      turn,
      signal,
      listener: this,
      swallow: (replay) => (this.#replay = replay),
      opened: (response, quirks) => {
        this.#settings.opened(response, quirks)
        this.#offered()
      },
    })
    if (this.#conversation !== conversation) {
      this.#conversation = conversation
      void conversation.process.ended.then(() => this.#died(conversation))
    }
    await this.#settings.settled(conversation, before)
    return conversation
  }

  #died(conversation: Conversation): void {
    if (this.#conversation !== conversation) return
    this.#conversation = undefined
    this.#settings.closed()
  }

  // What the agent says, in a turn and outside of one

  /** Updates of the session as a whole have no turn. */
  async #aboutSession(said: SaidUpdate): Promise<boolean> {
    switch (said.kind) {
      case 'title':
      case 'usage':
        await this.#session.update(said.kind === 'title' ? said : { kind: 'usage', usage: said.usage })
        return true
      case 'commands':
      case 'mode':
      case 'options':
        // The answer of the request that opens the conversation is handled before what follows it.
        this.#settings.heard(said)
        return true
      case 'nothing':
        return true
      default:
        return false
    }
  }

  #replayed(replay: Replay, said: SaidUpdate): void {
    replay.take(said)
    if (said.kind === 'commands' || said.kind === 'mode' || said.kind === 'options') this.#settings.replayed(said)
  }

  async #spoken(said: SaidUpdate): Promise<void> {
    const updates = this.promptTurn
    // Once the core has ended a cancelled turn, what the agent still says of it comes late.
    if (updates !== undefined && !this.#isEndedByCore(updates)) return updates.apply(said).catch(() => this.#late(said))
    if (updates !== undefined || this.#isLate(said)) return this.#late(said)
    const own = await this.ownTurn()
    if (own === undefined) return this.#late(said)
    own.heard()
    return own.updates.apply(said).catch(() => this.#late(said))
  }

  #isEndedByCore({ turn }: TurnUpdates): boolean {
    return turn.isOver
  }

  #isLate(said: SaidUpdate): boolean {
    const { clock } = this.#parts
    if (said.kind === 'foreign' || said.kind === 'notice') return this.#own === undefined
    return this.#last !== undefined && clock.monotonicNow() - this.#last.at <= LATE_MS && this.#last.updates.owns(said)
  }

  /** Of a turn that has ended. */
  async #late(said: SaidUpdate): Promise<void> {
    switch (said.kind) {
      case 'chunk': {
        const { role, content, messageId } = said
        const part = messageId === undefined ? {} : { messageId }
        if (role !== 'user') await this.#session.update({ kind: 'chunk', role, content, ...part })
        return
      }
      case 'call':
        await this.#session.update({ kind: 'call', toolCallId: said.toolCallId, patch: said.patch })
        return
      case 'foreign':
        await this.#session.update({ kind: 'foreign', protocol: 'acp/v1', update: said.update })
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
    const given = new Promise<OwnTurn | undefined>((resolve) => (this.#owning = resolve))
    const hasBegun = await this.#session.beginTurn().catch(() => false)
    if (!hasBegun) return undefined
    return waitAtMost(given, { clock: this.#parts.clock, ms: OWN_TURN_MS })
  }

  async #runOwn(turn: Turn): Promise<StopReason> {
    const conversation = this.#conversation
    if (conversation === undefined) return 'end_turn'
    const own = new OwnTurn(new TurnUpdates(turn, conversation.quirks), this.#parts.clock)
    this.#own = own
    this.#owning?.(own)
    try {
      return await own.play(this.#session, conversation)
    } finally {
      this.#own = undefined
      this.#last = { updates: own.updates, at: this.#parts.clock.monotonicNow() }
    }
  }

  get isReplaying(): boolean {
    return this.#replay !== undefined
  }

  get promptTurn(): TurnUpdates | undefined {
    return this.#prompt?.isOver === false ? this.#prompt.updates : undefined
  }

  async ownTurn(): Promise<OwnTurn | undefined> {
    return this.#own ?? (await this.#beginOwn())
  }

  // Idle

  #restIdle(): void {
    this.#idle?.cancel()
    this.#idleSince = this.#parts.clock.monotonicNow()
    this.#parts.live.changed()
    const minutes = this.#conversation?.process.launch.idleMinutes
    if (minutes === undefined || this.#isClosed) return
    this.#idle = this.#parts.clock.setTimer(minutes * 60_000, () => {
      if (this.#prompt?.isOver === false || this.#own !== undefined) this.#restIdle()
      else void this.unload().catch(this.#parts.report)
    })
  }

  get #quirks(): Quirks {
    return this.#conversation?.quirks ?? SAFE
  }
}
