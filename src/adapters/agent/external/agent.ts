/**
 * An ACP agent behind one session. Its process starts with the first prompt (or with a new session), ends after it was
 * idle for long, and starts again with the next prompt. Then its own conversation is reopened, or a new one gets what
 * the agent does not know.
 */
import { waitAtMost } from '../../../async/with-timeout.ts'
import type {
  Agent,
  AgentCapabilities,
  AgentProcessStatus,
  AgentSession,
  StopReason,
  Turn,
} from '../../../ports/agent.ts'
import type { ConfigValue } from '../../../ports/values/settings.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import { type Fields, fieldsOf } from '../../../rpc/json-rpc.ts'
import type { PeerListener } from './process/peer.ts'
import { type Quirks, SAFE } from './quirks.ts'
import { type AgentConversation, closeConversation, takeInOutside } from './reattach/conversation.ts'
import { hasMoved } from './reattach/divergence.ts'
import type { Replay } from './reattach/replay.ts'
import { AgentRequests, type AskingAgent } from './requests/agent-requests.ts'
import { LiveSettings } from './settings/live-settings.ts'
import { IdleUnload, MEGABYTE } from './supervision/idle-unload.ts'
import type { LiveAgent } from './supervision/live-agents.ts'
import { AgentStarter } from './supervision/starter.ts'
import type { ExternalParts } from './supervision/parts.ts'
import { AgentTurns } from './turn/agent-turns.ts'
import { endsOwnTurn } from './turn/own-turn.ts'
import { type SaidUpdate, readUpdate } from './updates/read-update.ts'

/** How long a new session waits for the offer of an agent that never ran here. */
const FIRST_OFFER_MS = 3_000
/** Updates of the session as a whole have no turn. */
const ABOUT_SESSION: ReadonlySet<SaidUpdate['kind']> = new Set([
  'title',
  'usage',
  'commands',
  'mode',
  'options',
  'nothing',
])

export class ExternalAgent implements Agent, PeerListener, AskingAgent, LiveAgent {
  /** Its full name. */
  readonly name: string
  readonly #parts: ExternalParts
  readonly #session: AgentSession
  readonly #settings: LiveSettings
  readonly #requests: AgentRequests
  readonly #starter: AgentStarter
  readonly #turns: AgentTurns
  #conversation: AgentConversation | undefined
  #replay: Replay | undefined
  readonly #idle: IdleUnload
  #offered: () => void = () => undefined
  #isClosed = false
  /** Turns and starts that are under way. */
  #busy = 0

  constructor(name: string, session: AgentSession, parts: ExternalParts) {
    this.name = name
    this.#parts = parts
    this.#session = session
    this.#settings = new LiveSettings(name, session, parts)
    this.#requests = new AgentRequests(this, (sentence) => {
      void session.notice(`${name.replace(/^acp:/u, '')} ${sentence}`, 'again')
    })
    this.#starter = new AgentStarter(name, session, parts)
    this.#idle = new IdleUnload(this, session, parts)
    this.#turns = new AgentTurns(session, parts.clock, parts.quietMs)
  }

  get idleSince(): number | undefined {
    return this.#busy > 0 || this.#turns.isBusy ? undefined : this.#idle.since
  }

  get capabilities(): AgentCapabilities {
    return this.#settings.capabilities
  }

  /** A session that is stored, whose user does not want to wait at the first prompt: no other agent is ended for it. */
  warmUp(): void {
    if (this.#parts.live.hasRoom) void this.#start()
  }

  /** A session that is being created: its agent starts at once, and is waited for only if its offer is unknown. */
  async begin(): Promise<void> {
    const { catalogue, clock } = this.#parts
    const offered = new Promise<void>((resolve) => (this.#offered = resolve))
    const starting = this.#start()
    // It is open once the session exists, which waits for this.
    if (catalogue.offers(this.name) === undefined)
      await waitAtMost(Promise.race([offered, starting]), { clock, ms: FIRST_OFFER_MS })
  }

  /** Never rejects: the first prompt says what is wrong. */
  async #start(): Promise<void> {
    const { never, report } = this.#parts
    this.#busy += 1
    try {
      await this.#open(undefined, never)
    } catch (error) {
      report(error)
    } finally {
      this.#busy -= 1
      this.#restIdle()
    }
  }

  setMode(modeId: string): Promise<void> {
    return this.#settings.setMode(modeId)
  }

  setConfigOption(configId: string, value: ConfigValue): Promise<void> {
    return this.#settings.setConfigOption(configId, value)
  }

  async run(turn: Turn): Promise<StopReason> {
    this.#idle.cancel()
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
    this.#idle.cancel()
    const conversation = this.#conversation
    this.#conversation = undefined
    if (conversation !== undefined) {
      await this.#turns.settled()
      await closeConversation(conversation, this.#parts.clock)
    }
    await this.#starter.stop()
    this.#settings.closed()
  }

  async processStatus(): Promise<AgentProcessStatus | undefined> {
    const { process } = this.#starter
    if (process === undefined || process.isGone) return undefined
    const { launch, pid } = process
    const usage = await process.usage().catch(() => undefined)
    const { idleSince } = this
    const secondsSince = (since: number): number => Math.floor((this.#parts.clock.monotonicNow() - since) / 1_000)
    const { quietSince } = this.#turns
    const { maxMemoryMb, stallMinutes } = launch
    return {
      agent: launch.name,
      version: this.#conversation?.info.version ?? launch.version ?? '',
      pid,
      ...usage,
      ...(idleSince !== undefined && { idleSeconds: secondsSince(idleSince) }),
      ...(idleSince === undefined && quietSince !== undefined && { quietSeconds: secondsSince(quietSince) }),
      ...(maxMemoryMb !== undefined && { maxBytes: maxMemoryMb * MEGABYTE }),
      ...(stallMinutes !== undefined && { stallMinutes }),
    }
  }

  async release(when: 'idle' | 'now'): Promise<boolean> {
    const { process } = this.#starter
    if (process === undefined || process.isGone) return false
    if (when === 'now') {
      await process.stop('kill')
      return true
    }
    if (this.idleSince === undefined) return false
    await this.unload()
    return true
  }

  // What the agent says

  notified(method: string, params: unknown): Promise<void> | undefined {
    if (method === 'session/update') return this.#updated(fieldsOf(params))
    if (method === 'elicitation/complete') this.#requests.completed(params)
    else this.noise(`ignored the notification ${method}`)
    return undefined
  }

  /** What the agent has said since is bounded by one read of its output. */
  readonly room = (): Promise<void> | undefined => this.#turns.room()

  #updated({ sessionId, update }: Fields): Promise<void> | undefined {
    const process = this.#starter.process
    const said = readUpdate(process === undefined ? update : process.secrets.maskJson(update))
    if (this.#replay !== undefined) return this.#replayed(this.#replay, said)
    const known = this.#conversation?.sessionId
    if (known !== undefined && known !== sessionId)
      return this.noise(`ignored an update of session ${String(sessionId)}`)
    return ABOUT_SESSION.has(said.kind) ? this.#aboutSession(said, update) : this.#turns.spoken(said)
  }

  requested(method: string, params: unknown): Promise<unknown> | undefined {
    return this.#requests.answer(method, params, this.#quirks)
  }

  noise(line: string): undefined {
    this.#starter.process?.note(line)
  }

  // Turns

  async #runPrompt(turn: Turn): Promise<StopReason> {
    await this.#turns.held(turn.signal)
    for (let attempt = 1; ; attempt += 1) {
      const conversation = await this.#reached(turn)
      // It died before the prompt was written: nothing was sent yet, so it may be tried once more.
      await this.#parts.clock.nextTick()
      if (conversation.process.isEnding && attempt === 1) continue
      await takeInOutside(conversation, turn, this.#session)
      const end = await this.#turns.prompt(turn, conversation, attempt > 1)
      if (end !== undefined) return end
    }
  }

  async #runOwn(turn: Turn): Promise<StopReason> {
    return this.#conversation === undefined ? 'end_turn' : this.#turns.own(turn, this.#conversation)
  }

  async #reached(turn: Turn): Promise<AgentConversation> {
    const conversation = this.#conversation
    if (conversation !== undefined && !conversation.process.isEnding && !(await this.#isOutdated(conversation))) {
      // A new session has begun its agent a moment ago: the prompt comes after the settings.
      await this.#settings.pushed(turn.signal)
      return conversation
    }
    return this.#open(turn, turn.signal)
  }

  /**
   * A running agent neither notices that its session was continued elsewhere nor that it has other MCP servers: it is
   * ended, and opens its conversation anew.
   */
  async #isOutdated(conversation: AgentConversation): Promise<boolean> {
    const { canResume } = conversation.abilities
    if (!conversation.hasServers() && (conversation.abilities.canLoad || canResume)) {
      await this.unload()
      return true
    }
    const { clock, outside } = this.#parts
    const { memory } = this.#session
    const idleMs = clock.monotonicNow() - (this.#idle.since ?? clock.monotonicNow())
    const { canList, canLoad } = conversation.abilities
    if (idleMs < outside.lookAfterMs || memory === undefined || !canList || !canLoad) return false
    if (!(await hasMoved(conversation.process, memory, this.#parts))) return false
    await this.unload()
    return true
  }

  async #open(turn: Turn | undefined, signal: Signal): Promise<AgentConversation> {
    try {
      return await this.#opened(turn, signal)
    } finally {
      this.#session.showActivity(undefined)
    }
  }

  async #opened(turn: Turn | undefined, signal: Signal): Promise<AgentConversation> {
    const { before } = this.#settings
    const conversation = await this.#starter.open({
      agent: this,
      turn,
      signal,
      listener: this,
      questions: this.#requests,
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
    this.#starter.reached('settings')
    await this.#settings.settled(conversation, before)
    return conversation
  }

  #died(conversation: AgentConversation): void {
    if (this.#conversation !== conversation) return
    this.#conversation = undefined
    this.#settings.closed()
  }

  async #aboutSession(said: SaidUpdate, update: unknown): Promise<void> {
    switch (said.kind) {
      case 'title':
      case 'usage':
        await this.#session.update(said.kind === 'title' ? said : { kind: 'usage', usage: said.usage })
        break
      case 'commands':
      case 'mode':
      case 'options':
        // The answer of the request that opens the conversation is handled before what follows it.
        this.#settings.heard(said)
        break
      default:
    }
    if (endsOwnTurn(update, this.#quirks.turnSignals)) this.#turns.endOwn()
  }

  #replayed(replay: Replay, said: SaidUpdate): undefined {
    replay.take(said)
    if (said.kind === 'commands' || said.kind === 'mode' || said.kind === 'options') this.#settings.replayed(said)
  }

  get isReplaying(): boolean {
    return this.#replay !== undefined
  }

  get promptTurn(): AgentTurns['promptTurn'] {
    return this.#turns.promptTurn
  }

  ownTurn(): ReturnType<AgentTurns['ownTurn']> {
    return this.#turns.ownTurn()
  }

  // Idle

  #restIdle(): void {
    this.#idle.begin(this.#isClosed ? undefined : this.#conversation?.process)
  }

  get #quirks(): Quirks {
    return this.#conversation?.quirks ?? SAFE
  }
}
