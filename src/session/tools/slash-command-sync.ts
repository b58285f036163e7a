/** Keeps what people may type after a slash true between turns too: prompts of MCP servers come and go when they like. */
import type { Agents } from '../../ports/agent.ts'
import type { ToolList } from '../../ports/tools.ts'
import type { Command } from '../domain/commands.ts'
import type { Existing } from '../domain/state.ts'

export interface SlashCommandSyncHost {
  readonly agents: Pick<Agents, 'open'>
  /** Undefined when nobody can be offered anything any more. */
  now(): { readonly state: Existing; readonly list: ToolList; readonly roots: readonly string[] } | undefined
  dispatch(command: Command): Promise<unknown>
  report(error: unknown): void
}

export class SlashCommandSync {
  readonly #host: SlashCommandSyncHost
  #offered = '[]'
  #isRunning = false
  #isWished = false

  constructor(host: SlashCommandSyncHost) {
    this.#host = host
  }

  /** The tools of the session are others now, or stand otherwise. */
  changed(): void {
    this.#isWished = true
    if (!this.#isRunning) void this.#keepUp()
  }

  async #keepUp(): Promise<void> {
    this.#isRunning = true
    while (this.#isWished) {
      this.#isWished = false
      // Whoever is about to hear that the session is open hears that first.
      await Promise.resolve()
      await this.#offer().catch((error: unknown) => this.#host.report(error))
    }
    this.#isRunning = false
  }

  /** While servers connect, what they had before stands: it would only come back. */
  async #offer(): Promise<void> {
    const { list } = this.#host.now() ?? {}
    if (list === undefined || list.servers.some(({ state }) => state === 'connecting')) return
    const prompts = JSON.stringify(list.prompts)
    if (prompts === this.#offered && !this.#hasStale(list)) return
    this.#offered = prompts
    const { state, roots } = this.#host.now() ?? {}
    if (state === undefined || roots === undefined) return
    const agent = await this.#host.agents.open(state.agent).catch(() => undefined)
    const commands = await agent?.commandsFor?.(list, roots)
    if (commands !== undefined) await this.#host.dispatch({ kind: 'refresh_commands', agent: state.agent, commands })
  }

  /** A prompt that was offered before this owner came, by a server that has it no more. */
  #hasStale({ prompts }: ToolList): boolean {
    const known = new Set(prompts.map(({ name }) => name))
    const { state } = this.#host.now() ?? {}
    return state?.commands.some(({ name }) => name.includes('__') && !known.has(name)) === true
  }
}
