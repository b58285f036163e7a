/** The tool registries of a live session: one for each set of directories that a client declared, all with the same MCP servers. */
import { fail } from '../../errors/parley-error.ts'
import type { SessionId } from '../../ports/journal.ts'
import type { McpServer, ServerStatus, ToolList, ToolRegistry } from '../../ports/tools.ts'
import { MAX_SESSION_SERVERS, type SessionConfig } from '../handle.ts'
import type { SessionPorts } from '../session-ports.ts'

/** The session whose tools these are. */
export interface PoolOwner {
  readonly id: SessionId
  readonly cwd: string
  /** Called when the tools or the state of a server have changed. */
  toolsChanged(): void
}

/** A turn keeps the registry of its lease to its end, whatever clients declare meanwhile. */
export interface RegistryLease {
  readonly registry: ToolRegistry
  /** Idempotent. */
  release(): Promise<void>
}

interface OpenRegistry {
  readonly registry: ToolRegistry
  leases: number
  stopListening(): void
}

/** Equal MCP servers of two registries share one connection, so that another set of directories costs little. */
export class ToolRegistryPool {
  readonly #ports: Pick<SessionPorts, 'tools' | 'report'>
  readonly #session: PoolOwner
  readonly #configs = new ClientConfigs()
  readonly #open = new Map<string, OpenRegistry>()
  #wanted: ReadonlySet<string> = new Set()
  #servers: readonly McpServer[] = []
  #isClosed = false

  constructor(ports: Pick<SessionPorts, 'tools' | 'report'>, session: PoolOwner) {
    this.#ports = ports
    this.#session = session
  }

  /** Replaces what this client declared. Any object identifies a client. Throws SERVERS_TOO_MANY; nothing has changed then. */
  declare(client: object, config: ClientConfig): void {
    this.#configs.declare(client, config)
    this.#update()
  }

  /** The MCP servers that the session had when it was unloaded from memory. */
  restore(servers: readonly McpServer[]): void {
    this.#configs.restore(servers)
    this.#update()
  }

  /** The client has left. Its configuration stays in force until its prompts have ended. */
  leave(client: object): void {
    if (this.#configs.leave(client)) this.#update()
  }

  /** The client's configuration stays in force until this prompt has ended, even if the client leaves. */
  promptBegan(promptId: string, client: object): void {
    this.#configs.promptBegan(promptId, client)
  }

  promptEnded(promptId: string): void {
    if (this.#configs.promptEnded(promptId)) this.#update()
  }

  directoriesOf(client: object): readonly string[] {
    return this.#configs.directoriesOf(client)
  }

  lease(directories: readonly string[]): RegistryLease {
    const key = this.#key(directories)
    const open = this.#ensureOpen(directories)
    open.leases += 1
    let released: Promise<void> | undefined
    return {
      registry: open.registry,
      release: () => {
        released ??= this.#release(key, open)
        return released
      },
    }
  }

  /** The MCP servers that the turns of this client's prompts have. */
  serversFor(client: object): readonly ServerStatus[] {
    return this.list(this.directoriesOf(client))?.servers ?? []
  }

  /** The tools of turns with these directories; undefined when no client has declared them. */
  list(directories: readonly string[]): ToolList | undefined {
    return this.#open.get(this.#key(directories))?.registry.list()
  }

  /** How many MCP servers are connected. */
  get connectedServers(): number {
    const servers = [...this.#open.values()].flatMap(({ registry }) => registry.list().servers)
    return new Set(servers.filter(({ state }) => state === 'ready').map(({ name }) => name)).size
  }

  /** All that clients have declared. */
  get servers(): readonly McpServer[] {
    return this.#servers
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#wanted = new Set()
    await Promise.all([...this.#open.keys()].map((key) => this.#close(key)))
  }

  /** Leased registries stay open until they are released. */
  #update(): void {
    if (this.#isClosed) return
    this.#servers = this.#configs.servers()
    const directories = this.#configs.directories()
    this.#wanted = new Set(directories.map((some) => this.#key(some)))
    // New registries open before old ones close, so that an MCP server that both have stays connected.
    for (const some of directories) this.#ensureOpen(some)
    for (const key of this.#open.keys()) this.#closeUnused(key).catch(this.#ports.report)
    this.#session.toolsChanged()
  }

  #key(directories: readonly string[]): string {
    return JSON.stringify([directories, this.#servers])
  }

  #ensureOpen(directories: readonly string[]): OpenRegistry {
    const key = this.#key(directories)
    const open = this.#open.get(key) ?? this.#openRegistry(directories)
    this.#open.set(key, open)
    return open
  }

  #openRegistry(directories: readonly string[]): OpenRegistry {
    const { id, cwd } = this.#session
    const registry = this.#ports.tools.open({ scope: id, cwd, roots: [cwd, ...directories], servers: this.#servers })
    return { registry, leases: 0, stopListening: registry.onChange(() => this.#session.toolsChanged()) }
  }

  async #release(key: string, open: OpenRegistry): Promise<void> {
    open.leases -= 1
    await this.#closeUnused(key)
  }

  async #closeUnused(key: string): Promise<void> {
    if (!this.#wanted.has(key) && this.#open.get(key)?.leases === 0) await this.#close(key)
  }

  async #close(key: string): Promise<void> {
    const open = this.#open.get(key)
    this.#open.delete(key)
    open?.stopListening()
    await open?.registry.close()
  }
}

type ClientConfig = Pick<SessionConfig, 'additionalDirectories' | 'mcpServers' | 'replaces'>

interface Declared extends ClientConfig {
  readonly isAttached: boolean
  /** The prompts of the client that have not ended. */
  readonly prompts: readonly string[]
}

/**
 * The configurations of a session's clients. A configuration is in force while its client is attached or a prompt of it is
 * open. The MCP servers of the last client to leave stay until a later client leaves its own, so that a client without MCP
 * servers removes none. They are dropped when the attached clients need the room.
 */
class ClientConfigs {
  readonly #declared = new Map<object, Declared>()
  #left: ClientConfig = { additionalDirectories: [], mcpServers: [] }

  declare(client: object, { additionalDirectories, mcpServers, replaces }: ClientConfig): void {
    const names = new Set([...this.#serversBeside(client, replaces), ...mcpServers].map(({ name }) => name))
    if (names.size > MAX_SESSION_SERVERS) fail('SERVERS_TOO_MANY', { found: names.size, most: MAX_SESSION_SERVERS })
    const { prompts } = this.#declared.get(client) ?? { prompts: [] }
    // Deleted first, because the newest declaration comes last: its servers replace others of the same name.
    this.#declared.delete(client)
    this.#declared.set(client, { additionalDirectories, mcpServers, isAttached: true, prompts })
  }

  restore(mcpServers: readonly McpServer[]): void {
    this.#left = { ...this.#left, mcpServers }
  }

  /** True when the declaration no longer holds. */
  leave(client: object): boolean {
    return this.#change(client, (declared) => ({ ...declared, isAttached: false }))
  }

  promptBegan(promptId: string, client: object): void {
    this.#change(client, (declared) => ({ ...declared, prompts: [...declared.prompts, promptId] }))
  }

  /** True when a declaration no longer holds. */
  promptEnded(promptId: string): boolean {
    const dropped = [...this.#declared.keys()].map((client) =>
      this.#change(client, (declared) => ({
        ...declared,
        prompts: declared.prompts.filter((one) => one !== promptId),
      })),
    )
    return dropped.includes(true)
  }

  directoriesOf(client: object): readonly string[] {
    return this.#declared.get(client)?.additionalDirectories ?? []
  }

  /** By name; of two servers with one name the one that was declared later. */
  servers(): readonly McpServer[] {
    const declared = [...this.#declared.values()].flatMap(({ mcpServers }) => mcpServers)
    const names = new Set(declared.map(({ name }) => name))
    const besides = this.#left.mcpServers.filter(({ name }) => !names.has(name))
    const tooMany = new Set(besides.slice(Math.max(0, MAX_SESSION_SERVERS - names.size)))
    const left = this.#left.mcpServers.filter((server) => !tooMany.has(server))
    return [...new Map([...left, ...declared].map((server) => [server.name, server])).values()]
  }

  /** The sets of additional directories for which registries are kept open. */
  directories(): readonly (readonly string[])[] {
    const configs = this.#declared.size === 0 ? [this.#left] : [...this.#declared.values()]
    return configs.map(({ additionalDirectories }) => additionalDirectories)
  }

  #change(client: object, change: (declared: Declared) => Declared): boolean {
    const declared = this.#declared.get(client)
    if (declared === undefined) return false
    const changed = change(declared)
    const holds = changed.isAttached || changed.prompts.length > 0
    if (holds) this.#declared.set(client, changed)
    else this.#drop(client, declared)
    return !holds
  }

  #drop(client: object, { additionalDirectories, mcpServers }: ClientConfig): void {
    if (this.#declared.size === 1)
      this.#left = { additionalDirectories, mcpServers: mcpServers.length > 0 ? mcpServers : this.#left.mcpServers }
    this.#declared.delete(client)
  }

  /** The servers that stay when `client` declares anew: those of other clients, and those of open prompts. */
  #serversBeside(client: object, replaces: object | undefined): readonly McpServer[] {
    const staying = [...this.#declared].filter(
      ([one, { prompts }]) => one !== client && (one !== replaces || prompts.length > 0),
    )
    return staying.flatMap(([, { mcpServers }]) => mcpServers)
  }
}
