/** What the agent of a turn says: in order, stored before anyone sees it, and nothing after the end. */
import { fail } from '../../errors/parley-error.ts'
import type {
  CompactionPatch,
  Content,
  Notice,
  PlanEntry,
  SlashCommand,
  ToolCallPatch,
  Usage,
} from '../../ports/content.ts'
import type { ConfigValue } from '../../ports/settings.ts'
import type { AgentEvent } from '../domain/commands.ts'
import type { Entry } from '../domain/entries.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Subscribers } from '../subscribers/subscribers.ts'

/** The parts of a session through which a turn's agent is heard. */
export interface VoiceHost {
  readonly log: SessionLog
  readonly subscribers: Subscribers
}

export abstract class TurnVoice {
  readonly turnId: string
  readonly sessionId: string
  readonly #host: VoiceHost
  #broken: { readonly error: unknown } | undefined
  #isOver = false

  constructor(host: VoiceHost, turnId: string) {
    this.#host = host
    this.turnId = turnId
    this.sessionId = host.log.state.id
  }

  say(content: Content): Promise<void> {
    return this.#emit({ kind: 'chunk', role: 'agent', content })
  }

  think(content: Content): Promise<void> {
    return this.#emit({ kind: 'chunk', role: 'thought', content })
  }

  plan(entries: readonly PlanEntry[]): Promise<void> {
    return this.#emit({ kind: 'plan', entries })
  }

  foreign(protocol: string, update: unknown): Promise<void> {
    return this.#emit({ kind: 'foreign', protocol, update })
  }

  title(title: string): Promise<void> {
    return this.#emit({ kind: 'title', title })
  }

  usage(usage: Usage): Promise<void> {
    return this.#emit({ kind: 'usage', usage })
  }

  offerCommands(commands: readonly SlashCommand[]): Promise<void> {
    return this.#emit({ kind: 'commands', commands })
  }

  async setMode(modeId: string): Promise<void> {
    await this.store({ kind: 'mode', modeId })
  }

  async setConfigOption(configId: string, value: ConfigValue): Promise<void> {
    await this.store({ kind: 'config_option', configId, value })
  }

  async notify(notice: Notice): Promise<void> {
    await this.store({ kind: 'flush' })
    const { log, subscribers } = this.#host
    if (!this.#isOver && !log.closed.aborted) subscribers.notify(notice)
  }

  compact(compactionId: string, patch: CompactionPatch): Promise<void> {
    return this.#emit({ kind: 'compaction', compactionId, patch })
  }

  summarize(compactionId: string, content: Content): Promise<void> {
    return this.#emit({ kind: 'compaction_summary', compactionId, content })
  }

  report(toolCallId: string, patch: ToolCallPatch): Promise<void> {
    return this.#emit({ kind: 'call', toolCallId, patch })
  }

  /** Nothing may follow any more. */
  protected get isOver(): boolean {
    return this.#isOver
  }

  /** Why its entries can no longer be stored, if that is so. */
  protected get broken(): { readonly error: unknown } | undefined {
    return this.#broken
  }

  protected fallSilent(): void {
    this.#isOver = true
  }

  /** From now on it throws this wherever the agent says something. */
  protected breakWith(error: unknown): void {
    this.#broken ??= { error }
  }

  /** False when the turn was over by then: nothing was stored, so nothing may be done. */
  protected async store(event: AgentEvent): Promise<boolean> {
    return (await this.stored(event)).length > 0
  }

  protected stored(event: AgentEvent): Promise<readonly Entry[]> {
    return this.#open(() => this.#host.log.dispatch({ kind: 'agent', turnId: this.turnId, event }))
  }

  /** Stops an agent that goes on speaking although nobody can hear it any more. */
  protected requireOpen(): void {
    if (this.#broken !== undefined) throw this.#broken.error
    if (this.#isOver) fail('TURN_OVER', { turn: this.turnId, session: this.sessionId })
  }

  #emit(event: AgentEvent): Promise<void> {
    return this.#open(() => this.#host.log.post({ kind: 'agent', turnId: this.turnId, event }, charsOf(event)))
  }

  async #open<Result>(speak: () => Promise<Result>): Promise<Result> {
    this.requireOpen()
    return speak()
  }
}

function charsOf(event: AgentEvent): number {
  if (event.kind === 'chunk' && event.content.type === 'text') return event.content.text.length + 128
  return JSON.stringify(event).length
}
