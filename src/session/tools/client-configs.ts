/** What the clients of a live session declared, for as long as it counts: which MCP servers it has, and for which directories. */
import { fail } from '../../errors/parley-error.ts'
import type { McpServer } from '../../ports/tools.ts'
import { MAX_SESSION_SERVERS } from '../handle.ts'

export interface ClientConfig {
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  /** What the same client declared before, and leaves once this counts: its servers do not count against these. */
  readonly replaces?: object | undefined
}

interface Declaration extends ClientConfig {
  readonly isPresent: boolean
  /** Its client's prompts that have not ended: they keep what it named, also when it has gone. */
  readonly prompts: readonly string[]
}

/**
 * A declaration counts while its client is attached or a prompt of it is open. The servers of the last client to leave stay
 * until a later one leaves its own, so that a client that names none takes none away; they make room for those of clients
 * that are there.
 */
export class ClientConfigs {
  readonly #made = new Map<object, Declaration>()
  #left: ClientConfig = { additionalDirectories: [], mcpServers: [] }

  /** The newest word of `who`, who may be anything that is only itself. Throws SERVERS_TOO_MANY, and then nothing has changed. */
  declare(who: object, { additionalDirectories, mcpServers, replaces }: ClientConfig): void {
    const names = new Set([...this.#besides(who, replaces), ...mcpServers].map(({ name }) => name))
    if (names.size > MAX_SESSION_SERVERS) fail('SERVERS_TOO_MANY', { found: names.size, most: MAX_SESSION_SERVERS })
    const { prompts } = this.#made.get(who) ?? { prompts: [] }
    this.#made.delete(who)
    this.#made.set(who, { additionalDirectories, mcpServers, isPresent: true, prompts })
  }

  /** What was left behind before the session came back to memory. */
  inherit(mcpServers: readonly McpServer[]): void {
    this.#left = { ...this.#left, mcpServers }
  }

  /** `who` has gone, or has been followed by another that declared for it. */
  leave(who: object): void {
    this.#change(who, (former) => ({ ...former, isPresent: false }))
  }

  began(promptId: string, who: object): void {
    this.#change(who, (former) => ({ ...former, prompts: [...former.prompts, promptId] }))
  }

  ended(promptId: string): void {
    for (const who of this.#made.keys())
      this.#change(who, (former) => ({ ...former, prompts: former.prompts.filter((one) => one !== promptId) }))
  }

  directoriesOf(who: object): readonly string[] {
    return this.#made.get(who)?.additionalDirectories ?? []
  }

  /** By name: who comes with none takes nothing from others, and a name said again is the newer one. */
  servers(): readonly McpServer[] {
    const declared = [...this.#made.values()].flatMap(({ mcpServers }) => mcpServers)
    const names = new Set(declared.map(({ name }) => name))
    const besides = this.#left.mcpServers.filter(({ name }) => !names.has(name))
    const tooMany = new Set(besides.slice(Math.max(0, MAX_SESSION_SERVERS - names.size)))
    const left = this.#left.mcpServers.filter((server) => !tooMany.has(server))
    return [...new Map([...left, ...declared].map((server) => [server.name, server])).values()]
  }

  /** The additional directories for which tools are kept ready. */
  directories(): readonly (readonly string[])[] {
    const made = this.#made.size === 0 ? [this.#left] : [...this.#made.values()]
    return made.map(({ additionalDirectories }) => additionalDirectories)
  }

  #change(who: object, change: (former: Declaration) => Declaration): void {
    const former = this.#made.get(who)
    if (former === undefined) return
    const changed = change(former)
    if (changed.isPresent || changed.prompts.length > 0) this.#made.set(who, changed)
    else this.#forget(who, former)
  }

  #forget(who: object, { additionalDirectories, mcpServers }: ClientConfig): void {
    if (this.#made.size === 1)
      this.#left = { additionalDirectories, mcpServers: mcpServers.length > 0 ? mcpServers : this.#left.mcpServers }
    this.#made.delete(who)
  }

  /** What clients declared that stays when `who` has declared anew: the tools of open prompts, and what other clients named. */
  #besides(who: object, replaces: object | undefined): readonly McpServer[] {
    const stays = [...this.#made].filter(
      ([one, { prompts }]) => one !== who && (one !== replaces || prompts.length > 0),
    )
    return stays.flatMap(([, { mcpServers }]) => mcpServers)
  }
}
