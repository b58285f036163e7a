/** Methods of the server itself, beyond ACP, and what its status says of this machine. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Scope } from '../../credentials/scope.ts'
import type { OwnMethods } from '../../edge/acp/version.ts'
import { type ServerControl, adminMethods } from '../admin/admin-methods.ts'
import { liveMcp, mcpMethod } from '../admin/mcp-servers.ts'
import type { AgentList } from '../agents/agent-list.ts'
import type { Config } from '../../config/settings.ts'
import type { Owner } from '../compose/compose.ts'
import { searchMethod } from '../compose/session-search.ts'
import { importMethods } from '../import/import-methods.ts'

interface Caller {
  readonly config: Config
  /** The sessions that exist for it. */
  readonly scope?: Scope | undefined
  /** The external agents that it may name. */
  readonly agents: AgentsOfServer
}

export function serverMethods(owner: Owner, orders: ServerControl, { config, scope, agents }: Caller): OwnMethods {
  return {
    ...adminMethods(orders),
    ...accessMethods(owner),
    ...searchMethod(owner.search, scope),
    ...importMethods(owner, config.home),
    ...mcpMethod(owner),
    '_parley/agents': async () => agents.list(),
    ...machineMethods(config, owner),
  }
}

/** The external agents that clients may name. Loaded with the first client that wants to know them. */
export class AgentsOfServer {
  readonly #config: Config
  readonly #owner: Owner
  #loading: Promise<AgentList> | undefined

  constructor(config: Config, owner: Owner) {
    this.#config = config
    this.#owner = owner
  }

  async list(): Promise<object> {
    return (await this.#load()).list()
  }

  /** As `AgentList.watch` does. */
  watch(changed: (list: object) => void): () => void {
    const watching = this.#load().then((list) => list.watch(changed))
    watching.catch((error: unknown) => this.#owner.report(error))
    return () =>
      void watching.then(
        (stop) => stop(),
        () => undefined,
      )
  }

  async #load(): Promise<AgentList> {
    const { agents, clock, log } = this.#owner
    const parts = { config: this.#config, default: agents.default, clock, report: log.report }
    const loading = (this.#loading ??= import('../agents/agent-list.ts').then(({ AgentList: List }) => new List(parts)))
    // If loading failed, for example without a free descriptor, the next request tries again.
    loading.catch(() => (this.#loading = undefined))
    return loading
  }
}

/** Few connections call them, and no start waits for what they load. */
const ACCESS_METHODS = ['list', 'pair', 'token', 'share', 'role', 'remove'] as const

function accessMethods(owner: Owner): OwnMethods {
  const call = (name: (typeof ACCESS_METHODS)[number]) => async (params: unknown) => {
    const { accessMethods: load } = await import('../admin/access-methods.ts')
    return load(await owner.credentials())[`_parley/access/${name}`](params)
  }
  return Object.fromEntries(ACCESS_METHODS.map((name) => [`_parley/access/${name}`, call(name)]))
}

const MACHINE_METHODS = [
  'logs',
  'models',
  'agents/test',
  ...(['mcp/list', 'mcp/test', 'mcp/add', 'mcp/remove'] as const),
  ...(['rules/list', 'rules/add', 'rules/remove'] as const),
] as const

/** Methods about this machine, for commands on other machines. */
function machineMethods(config: Config, owner: Owner): OwnMethods {
  const { clock } = owner
  const live = () => liveMcp(owner)
  const call = (name: (typeof MACHINE_METHODS)[number]) => async (params: unknown) => {
    const { machineMethods: load } = await import('../admin/machine-methods.ts')
    return load({ config, clock, live })[`_parley/${name}`](params)
  }
  return Object.fromEntries(MACHINE_METHODS.map((name) => [`_parley/${name}`, call(name)]))
}

/** What the server uses of this machine: its memory, and the journal on the disk with what has still to be moved into its place. */
export function machineUsageOf(home: string): { readonly residentBytes: number; readonly journalBytes: number } {
  const journalBytes = ['journal.db', 'journal.db-wal']
    .map((name) => statSync(join(home, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0)
  return { residentBytes: process.memoryUsage.rss(), journalBytes }
}
