/** The settings of one session and its agent: what users set reaches the agent, now or when it starts. */
import { unlessAborted } from '../../../../async/abort.ts'
import { fail } from '../../../../errors/parley-error.ts'
import type { AgentCapabilities, AgentSession } from '../../../../ports/agent.ts'
import type { ConfigValue } from '../../../../ports/values/settings.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { refusalOf } from '../process/agent-process.ts'
import { WireError } from '../process/wire-error.ts'
import { type Quirks, SAFE } from '../quirks.ts'
import type { AgentConversation } from '../reattach/conversation.ts'
import type { OpenedResponse } from '../reattach/open-conversation.ts'
import type { ExternalParts } from '../supervision/parts.ts'
import type { SaidUpdate } from '../updates/read-update.ts'
import { AgentSettings, type SettingsTarget, type WishedSettings, wishesIn } from './settings.ts'

const NO_WISHES: WishedSettings = { options: {} }

export class LiveSettings {
  readonly #name: string
  readonly #session: AgentSession
  readonly #parts: ExternalParts
  readonly #settings: AgentSettings
  #conversation: AgentConversation | undefined
  /** What users have set while it did not run. */
  #wishes: WishedSettings = NO_WISHES
  #settling: Promise<void> | undefined

  constructor(name: string, session: AgentSession, parts: ExternalParts) {
    this.#name = name
    this.#session = session
    this.#parts = parts
    const offers = parts.catalogue.offers(name)
    this.#settings = new AgentSettings(offers, offers === undefined ? SAFE : parts.catalogue.quirks(name, offers))
  }

  get capabilities(): AgentCapabilities {
    return this.#settings.capabilities
  }

  /** What the agent had before its conversation is reopened; undefined for a new one. */
  get before(): WishedSettings | undefined {
    return this.#session.memory === undefined ? undefined : wishesIn(this.#session.settings)
  }

  async setMode(modeId: string): Promise<void> {
    const target = this.#target()
    if (target === undefined) this.#wishes = { ...this.#wishes, mode: modeId }
    else await this.#set('the mode', () => this.#settings.setMode(target, modeId))
  }

  async setConfigOption(configId: string, value: ConfigValue): Promise<void> {
    const target = this.#target()
    const { options } = this.#wishes
    if (target === undefined) this.#wishes = { ...this.#wishes, options: { ...options, [configId]: value } }
    else await this.#set(`the option ${configId}`, () => this.#settings.setConfigOption(target, configId, value))
  }

  opened({ response, isNew }: OpenedResponse, quirks: Quirks): void {
    if (isNew) this.#settings.began(response, quirks)
    else this.#settings.reopened(response, quirks)
  }

  heard(said: SaidUpdate): void {
    if (this.#settings.heard(said)) void this.#session.capabilitiesChanged()
    if (said.kind === 'commands') void this.#rememberCommands()
  }

  /** While the conversation is being reopened nothing is stored yet. */
  replayed(said: SaidUpdate): void {
    this.#settings.heard(said)
  }

  /** Once for each conversation, before the first prompt. */
  async settled(conversation: AgentConversation, before: WishedSettings | undefined): Promise<void> {
    if (this.#conversation !== conversation) {
      this.#conversation = conversation
      const settling = this.#settle(conversation, before)
      this.#settling = settling
      // A prompt that comes after it waits for nothing.
      settling.then(
        () => this.#settling === settling && (this.#settling = undefined),
        () => undefined,
      )
    }
    await this.#settling
  }

  /** Resolves when the agent has been given all settings with which its conversation was opened. Throws when `signal` aborts. */
  async pushed(signal: Signal): Promise<void> {
    if (this.#settling !== undefined) await unlessAborted(this.#settling, signal, () => new Error('it was cancelled'))
  }

  /** The agent runs no more. */
  closed(): void {
    this.#conversation = undefined
    this.#settings.closed()
  }

  /**
   * Agents forget their settings, so they are set again: those that the session had `before`, and what users have set meanwhile.
   * A session that is new has the values of the configuration. The user reads what the agent refuses.
   */
  async #settle(conversation: AgentConversation, before: WishedSettings | undefined): Promise<void> {
    const { name, mode, options } = conversation.process.launch
    const wanted = before ?? { mode, options: options ?? {} }
    const wishes = this.#wishes
    this.#wishes = NO_WISHES
    const wished = { mode: wishes.mode ?? wanted.mode, options: { ...wanted.options, ...wishes.options } }
    const refused = await this.#settings.push(this.#targetIn(conversation), wished, before === undefined)
    this.#settings.running()
    await this.#session.capabilitiesChanged()
    void this.#rememberCommands()
    for (const sentence of refused) await this.#session.notice(`${name} did not take a setting. ${sentence}`)
  }

  /** Its next session has them before it runs. */
  async #rememberCommands(): Promise<void> {
    const { catalogue, report } = this.#parts
    const { rawCommands: commands } = this.#settings
    const [launch, offers] = [this.#conversation?.process.launch, catalogue.offers(this.#name)]
    if (launch === undefined || offers === undefined || sameJson(offers.commands, commands)) return
    await catalogue.remember(launch, { ...offers, commands }).catch(report)
  }

  /** Throws AGENT_REFUSED. */
  async #set(what: string, setting: () => Promise<void>): Promise<void> {
    const process = this.#conversation?.process
    try {
      await setting()
    } catch (error) {
      if (!(error instanceof WireError) || process === undefined) throw error
      fail('AGENT_REFUSED', { agent: process.launch.name, method: what, reason: refusalOf(error, process) }, error)
    }
  }

  #target(): SettingsTarget | undefined {
    const conversation = this.#conversation
    const runs = conversation !== undefined && conversation.process.end === undefined
    return runs ? this.#targetIn(conversation) : undefined
  }

  #targetIn({ process, sessionId, quirks }: AgentConversation): SettingsTarget {
    const { settingMs: silenceMs, never: signal } = this.#parts
    const request = (method: string, params: object) => process.ask(method, params, { silenceMs, signal })
    return { sessionId, quirks, request }
  }
}

function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
