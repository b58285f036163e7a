/** The tools of a live session: a registry for each set of directories that somebody declared, all with the same servers. */
import type { SessionId } from '../../ports/journal.ts'
import { type ClientConfig, ClientConfigs } from './client-configs.ts'
import type { McpServer, ServerStatus, ToolList, ToolRegistry } from '../../ports/tools.ts'
import type { SessionPorts } from '../session-ports.ts'

/** The session whose tools these are. */
export interface PoolOwner {
  readonly id: SessionId
  readonly cwd: string
  /** Called when the tools or the state of a server have changed. */
  toolsChanged(): void
}

/** What a turn has borrowed: it keeps these tools to its end, whoever comes and goes meanwhile. */
export interface Lease {
  readonly registry: ToolRegistry
  giveBack(): Promise<void>
}

interface Kept {
  readonly registry: ToolRegistry
  lent: number
  stopListening(): void
}

/** The registries of one session share the connections that are equal, so that another set of directories costs little. */
export class RegistryPool {
  readonly #ports: Pick<SessionPorts, 'tools' | 'report'>
  readonly #session: PoolOwner
  readonly #declarations = new ClientConfigs()
  readonly #kept = new Map<string, Kept>()
  #wanted: ReadonlySet<string> = new Set()
  #servers: readonly McpServer[] = []
  #isClosed = false

  constructor(ports: Pick<SessionPorts, 'tools' | 'report'>, session: PoolOwner) {
    this.#ports = ports
    this.#session = session
  }

  /** The newest word of `who`, who may be anything that is only itself. */
  declare(who: object, declared: ClientConfig): void {
    this.#declarations.declare(who, declared)
    this.#arrange()
  }

  /** What was left behind before the session came back to memory. */
  inherit(servers: readonly McpServer[]): void {
    this.#declarations.inherit(servers)
    this.#arrange()
  }

  /** `who` has gone, or has been followed by another that declared for it. */
  leave(who: object): void {
    this.#declarations.leave(who)
    this.#arrange()
  }

  /** Until it has ended, what `who` declared counts. */
  began(promptId: string, who: object): void {
    this.#declarations.began(promptId, who)
  }

  ended(promptId: string): void {
    this.#declarations.ended(promptId)
    this.#arrange()
  }

  directoriesOf(who: object): readonly string[] {
    return this.#declarations.directoriesOf(who)
  }

  lend(directories: readonly string[]): Lease {
    const key = this.#key(directories)
    const kept = this.#keep(directories)
    kept.lent += 1
    let given: Promise<void> | undefined
    return {
      registry: kept.registry,
      giveBack: () => {
        given ??= this.#takeBack(key, kept)
        return given
      },
    }
  }

  /** The servers as the turns of `who` have them. */
  serversFor(who: object): readonly ServerStatus[] {
    return this.#kept.get(this.#key(this.directoriesOf(who)))?.registry.list().servers ?? []
  }

  /** The tools of turns with these directories; undefined when nobody has declared them. */
  list(directories: readonly string[]): ToolList | undefined {
    return this.#kept.get(this.#key(directories))?.registry.list()
  }

  /** How many servers are connected. */
  get ready(): number {
    const servers = [...this.#kept.values()].flatMap(({ registry }) => registry.list().servers)
    return new Set(servers.filter(({ state }) => state === 'ready').map(({ name }) => name)).size
  }

  /** Those that anybody has named. */
  get servers(): readonly McpServer[] {
    return this.#servers
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#wanted = new Set()
    await Promise.all([...this.#kept.keys()].map((key) => this.#close(key)))
  }

  /** What is lent stays until it is given back. */
  #arrange(): void {
    if (this.#isClosed) return
    this.#servers = this.#declarations.servers()
    const directories = this.#declarations.directories()
    this.#wanted = new Set(directories.map((some) => this.#key(some)))
    // What is wanted opens before what is not closes, so that servers that both name go on.
    for (const some of directories) this.#keep(some)
    for (const key of this.#kept.keys()) this.#closeUnused(key).catch(this.#ports.report)
    this.#session.toolsChanged()
  }

  #key(directories: readonly string[]): string {
    return JSON.stringify([directories, this.#servers])
  }

  #keep(directories: readonly string[]): Kept {
    const key = this.#key(directories)
    const kept = this.#kept.get(key) ?? this.#open(directories)
    this.#kept.set(key, kept)
    return kept
  }

  #open(directories: readonly string[]): Kept {
    const { id, cwd } = this.#session
    const registry = this.#ports.tools.open({ scope: id, cwd, roots: [cwd, ...directories], servers: this.#servers })
    return { registry, lent: 0, stopListening: registry.onChange(() => this.#session.toolsChanged()) }
  }

  async #takeBack(key: string, kept: Kept): Promise<void> {
    kept.lent -= 1
    await this.#closeUnused(key)
  }

  async #closeUnused(key: string): Promise<void> {
    if (!this.#wanted.has(key) && this.#kept.get(key)?.lent === 0) await this.#close(key)
  }

  async #close(key: string): Promise<void> {
    const kept = this.#kept.get(key)
    this.#kept.delete(key)
    kept?.stopListening()
    await kept?.registry.close()
  }
}
