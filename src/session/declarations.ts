/** What the clients of a live session declared, for as long as it counts: which MCP servers it has, and for which directories. */
import { fail } from '../errors/parley-error.ts'
import type { McpServer } from '../ports/tools.ts'

/** That clients may name for one session, all of them together: ten times what people use, and as many processes as a machine takes. */
export const MOST_SERVERS = 100

export interface Declared {
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
}

interface Declaration extends Declared {
  readonly isPresent: boolean
  /** Its client's prompts that have not ended: they keep what it named, also when it has gone. */
  readonly prompts: readonly string[]
}

/**
 * A declaration counts while its client is attached or a prompt of it is open. What the last of all left behind counts
 * until the session leaves memory: whoever comes next and names no servers takes none away.
 */
export class Declarations {
  readonly #made = new Map<object, Declaration>()
  #left: Declared = { additionalDirectories: [], mcpServers: [] }

  /** The newest word of `who`, who may be anything that is only itself. Throws SERVERS_TOO_MANY, and then nothing has changed. */
  declare(who: object, { additionalDirectories, mcpServers }: Declared): void {
    const names = new Set([...this.servers(), ...mcpServers].map(({ name }) => name))
    if (names.size > MOST_SERVERS) fail('SERVERS_TOO_MANY', { found: names.size, most: MOST_SERVERS })
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
    const named = [this.#left, ...this.#made.values()].flatMap(({ mcpServers }) => mcpServers)
    return [...new Map(named.map((server) => [server.name, server])).values()]
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

  #forget(who: object, { additionalDirectories }: Declared): void {
    if (this.#made.size === 1) this.#left = { additionalDirectories, mcpServers: this.servers() }
    this.#made.delete(who)
  }
}
