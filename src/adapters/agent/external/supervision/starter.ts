/** Starts the process of one agent and opens its conversation for a session; a failed start is tried again only by a prompt. */
import { unlessAborted } from '../../../../async/abort.ts'
import { backoffMs } from '../../../../async/backoff.ts'
import { fail, isParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import type { AgentSession, Turn } from '../../../../ports/agent.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { AgentLaunch, AgentOffers } from '../launch.ts'
import { type AgentInfo, AgentProcess } from '../process/agent-process.ts'
import { CLIENT_CAPABILITIES, loginIn, useLogin } from '../process/introduction.ts'
import type { PeerListener } from '../process/peer.ts'
import { WireError } from '../process/wire-error.ts'
import type { Quirks } from '../quirks.ts'
import { AgentAbilities } from '../reattach/abilities.ts'
import type { AgentConversation } from '../reattach/conversation.ts'
import { type OpenedResponse, ReopeningFailed, openConversation } from '../reattach/open-conversation.ts'
import type { Replay } from '../reattach/replay.ts'
import type { ServerQuestions } from '../reattach/servers.ts'
import type { LiveAgent } from './live-agents.ts'
import type { ExternalParts } from './parts.ts'

/** So many failures in so long a time, and starts are held back. */
const MAX_FAILURES = 3
const FAILURES_MS = 5 * 60_000
const BACKOFF = { firstMs: 1_000, longestMs: 60_000 }

export interface OpenWish {
  readonly agent: LiveAgent
  readonly turn: Turn | undefined
  readonly signal: Signal
  readonly listener: PeerListener
  readonly questions: ServerQuestions
  readonly swallow: (replay: Replay | undefined) => void
  readonly opened: (opened: OpenedResponse, quirks: Quirks) => void
}

export class AgentStarter {
  readonly #name: string
  readonly #session: AgentSession
  readonly #parts: ExternalParts
  #process: AgentProcess | undefined
  #opening: Promise<AgentConversation> | undefined
  #failures: readonly number[] = []
  #reason = ''
  #began = 0
  #isClosed = false

  constructor(name: string, session: AgentSession, parts: ExternalParts) {
    this.#name = name
    this.#session = session
    this.#parts = parts
  }

  /** The process that runs, or is being started. */
  get process(): AgentProcess | undefined {
    return this.#process
  }

  /**
   * A conversation that is being opened is joined. Throws what keeps the agent from being started, and AGENT_CRASHES while
   * starts are held back.
   */
  async open(wish: OpenWish): Promise<AgentConversation> {
    while (this.#opening !== undefined) {
      const opening = this.#opening.catch(() => undefined)
      const joined = await unlessAborted(opening, wish.signal, () => new Error('it was cancelled'))
      if (joined !== undefined && !joined.process.isEnding) return joined
    }
    this.#requireCalm()
    this.#began = this.#parts.clock.now()
    this.reached('process')
    this.#opening = this.#openOrStop(wish)
    return this.#opening
  }

  /** Settles once nothing of a failed start is left: what ends it would otherwise undo the start after it. */
  async #openOrStop(wish: OpenWish): Promise<AgentConversation> {
    try {
      // A former process that is being ended may still speak, and must not speak in the turns of the next one.
      await unlessAborted(this.stop(), wish.signal, () => new Error('it was cancelled'))
      return await this.#open(wish)
    } catch (error) {
      await this.stop('kill')
      this.#parts.live.left(wish.agent)
      if (!wish.signal.aborted) this.#failed(error)
      throw error
    } finally {
      this.#opening = undefined
    }
  }

  /** Clients see which step a start has come to. */
  reached(step: 'waiting' | 'process' | 'initialize' | 'session' | 'settings'): void {
    this.#session.showActivity({ state: 'starting', agent: this.#shortName, step, since: this.#began })
  }

  get #shortName(): string {
    return this.#name.replace(/^acp:/u, '')
  }

  /** Resolves when no process of it is left. Idempotent. */
  async stop(how?: 'kill'): Promise<void> {
    const process = this.#process
    await process?.stop(how)
    if (this.#process === process) this.#process = undefined
  }

  close(): void {
    this.#isClosed = true
  }

  async #open(wish: OpenWish): Promise<AgentConversation> {
    try {
      return await this.#attempt(wish, false)
    } catch (error) {
      if (!(error instanceof ReopeningFailed)) throw error
      await this.stop()
      return this.#attempt(wish, true)
    }
  }

  async #attempt(wish: OpenWish, isLastTry: boolean): Promise<AgentConversation> {
    const { catalogue, clock } = this.#parts
    const { cwd, variables, id } = this.#session
    const launch = await catalogue.launch(this.#name, { cwd, variables })
    if (this.#isClosed) fail('SESSION_CLOSED', { session: id })
    await this.#admitted(wish, launch)
    this.reached('process')
    const began = clock.monotonicNow()
    const advice = ` Your prompt was not sent. parley agents test ${launch.name} shows more.`
    const start = { launch, sessionId: id, cwd, listener: wish.listener, signal: wish.signal, advice }
    const process = await AgentProcess.start(start, this.#parts)
    this.#process = process
    void process.ended.then(() => this.#process === process && this.#parts.live.left(wish.agent))
    this.reached('initialize')
    const info = await this.#introduced(process, wish.signal)
    const initMs = clock.monotonicNow() - began
    const quirks = catalogue.quirks(this.#name, info)
    await useLogin(process, info, { quirks, signal: wish.signal })
    let opened: OpenedResponse = { response: undefined, isNew: false }
    this.reached('session')
    const conversation = await openConversation(
      {
        agent: this.#name,
        session: this.#session,
        process,
        info,
        quirks,
        clock,
        outside: this.#parts.outside,
        front: this.#parts.front,
        questions: wish.questions,
        signal: wish.signal,
        swallow: wish.swallow,
        opened: (came) => {
          opened = came
          wish.opened(came, quirks)
        },
      },
      isLastTry,
    )
    this.#failures = []
    await this.#remember(launch, info, { opened, initMs })
    return conversation
  }

  /** Past the limit, an agent that is idle makes room. */
  async #admitted({ agent, signal, turn }: OpenWish, { name }: AgentLaunch): Promise<void> {
    await this.#parts.live.admit(agent, signal, () => {
      this.reached('waiting')
      const title = `${name} waits: as many agents are at work as may be at once.`
      void turn?.notify({ severity: 'info', title }).catch(this.#parts.report)
    })
  }

  async #introduced(process: AgentProcess, signal: Signal): Promise<AgentInfo> {
    const { launch } = process
    const { protocol, clientInfo = this.#parts.clientInfo } = launch.quirks
    const params = { protocolVersion: protocol, clientInfo, clientCapabilities: CLIENT_CAPABILITIES }
    try {
      return await process.initialize(params, protocol, signal)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      return process.failed('initialize', process.mask(error.words), error)
    }
  }

  /** What it offers is known from now on before it runs. */
  async #remember(
    launch: AgentLaunch,
    info: AgentInfo,
    { opened: { response, isNew }, initMs }: { readonly opened: OpenedResponse; readonly initMs: number },
  ): Promise<void> {
    const { catalogue, clock, report } = this.#parts
    const known = catalogue.offers(this.#name)
    // What a reopened conversation does not speak of is as it was.
    const { modes, configOptions, models } = { ...(!isNew && known), ...fieldsOf(response) }
    const { agentName, version, protocol, capabilities } = info
    const offers: AgentOffers = {
      agentName,
      version,
      protocol,
      capabilities,
      promptKinds: new AgentAbilities(capabilities, launch.quirks).promptKinds,
      logins: info.authMethods.flatMap(loginIn),
      ...(modes !== undefined && { modes }),
      ...(configOptions !== undefined && { configOptions }),
      ...(models !== undefined && { models }),
      commands: known?.commands ?? [],
      needsLogin: false,
      initMs: Math.round(initMs),
      at: clock.now(),
    }
    await catalogue.remember(launch, offers).catch(report)
  }

  #failed(error: unknown): void {
    // What a person must do first is no crash.
    const isCrash = isParleyError(error, 'AGENT_START_FAILED') || isParleyError(error, 'AGENT_STUCK')
    if (!isCrash) return
    const now = this.#parts.clock.monotonicNow()
    this.#failures = [...this.#failures.filter((at) => now - at < FAILURES_MS), now]
    this.#reason = reasonOf(error)
  }

  #requireCalm(): void {
    const failures = this.#failures.length
    const last = this.#failures.at(-1)
    if (last === undefined || failures < MAX_FAILURES) return
    const waitMs = last + backoffMs(failures - MAX_FAILURES + 1, BACKOFF) - this.#parts.clock.monotonicNow()
    if (waitMs <= 0) return
    const seconds = Math.ceil(waitMs / 1_000)
    fail('AGENT_CRASHES', { agent: this.#shortName, failures, seconds, reason: this.#reason })
  }
}
