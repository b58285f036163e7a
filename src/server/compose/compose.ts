/** The one place that names every adapter, but for what commands read with: config in, an owner out. */
import { join } from 'node:path'
import { storedLogins } from '../../adapters/agent/external/probe/stored-logins.ts'
import { openAgents } from '../../adapters/agent/agents.ts'
import type { ExternalAgents } from '../../adapters/agent/external/agents.ts'
import { systemClock } from '../../adapters/clock.ts'
import type { OwnedJournal } from '../../adapters/journal/sqlite/sqlite-journal.ts'
import { followJournal } from '../../adapters/search/worker/search-client.ts'
import type { OwnedModels } from '../../adapters/model/providers/models.ts'
import type { ArgumentSuggestions, TypedArgument } from '../../adapters/tool-registry/completions.ts'
import type { SessionServers } from '../../adapters/tool-registry/host.ts'
import { agentName } from '../../config/agent-choice.ts'
import type { CredentialStore } from '../../credentials/credential-store.ts'
import { promptDirectory } from '../../config/places.ts'
import { wantsTelemetry } from '../../config/telemetry.ts'
import { readProviderTables } from '../../config/models/configured-providers.ts'
import type { RemoteAccess } from '../../config/listen.ts'
import type { Config } from '../../config/settings.ts'
import type { Activity } from '../../ports/values/activity.ts'
import type { Agents, ClientVariables } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Journal } from '../../ports/journal.ts'
import type { Models } from '../../ports/model.ts'
import type { Ownership } from '../../ports/ownership.ts'
import type { SearchIndex } from '../../ports/search.ts'
import type { Importing } from '../../session/lifecycle/import-session.ts'
import type { SessionRegistry } from '../../session/session-registry.ts'
import type { AgentImports } from '../agents/import-sessions.ts'
import type { ClusterNode } from '../cluster/cluster-node.ts'
import type { ClusterJournal, ClusterOrder, DatabaseState } from '../cluster/open-cluster.ts'
import { type Log, openLog } from '../log/log.ts'
import { ClientModels, type Which, modelsOf } from './models.ts'
import { type OwnJournal, openOwnJournal, openSearch } from './open-state.ts'
import type { ComposedSessions } from './sessions.ts'
import { serverInfo } from '../server-info.ts'
import { NO_TELEMETRY, type ServerTelemetry } from '../telemetry/server-telemetry.ts'

/** The one process that may append; it alone recovers. */
export interface Owner {
  /** Resolves when this process owns the state; rejects with STATE_IN_USE, or with why the journal cannot be opened. */
  readonly ownership: Promise<Ownership>
  /** Resolves when the journal is ours and what a crash left was settled; rejects with STATE_IN_USE and its kin. */
  readonly sessions: Promise<SessionRegistry>
  readonly agents: Agents
  /** Follows the journal from behind. */
  readonly search: SearchIndex
  /** How the MCP servers of live sessions are. */
  mcp(): readonly SessionServers[]
  /** Completions for the text behind a slash command of a session; undefined where no server completes it. */
  complete(session: string, typed: TypedArgument): Promise<ArgumentSuggestions | undefined>
  /** The names of the MCP servers that the settings have for a directory. */
  mcpServersOf(cwd: string): Promise<readonly string[]>
  readonly log: Log
  /** Undefined where this process has all sessions. */
  cluster(): Promise<ClusterNode | undefined>
  /** Of all who may connect. */
  credentials(): Promise<CredentialStore>
  /** Where sessions are kept in a cluster: what an acknowledgement means in each of its databases. */
  databases(): Promise<readonly DatabaseState[]>
  readonly activity: Activity
  readonly telemetry: Pick<ServerTelemetry, 'gauge'>
  readonly clock: Clock
  report(error: unknown): void
  newId(): string
  /** Whole or not at all. Throws SESSION_EXISTS, and what the pieces throw. */
  importSession(importing: Importing): Promise<void>
  /** Of the user's other conversations with an external agent. Loaded with the first call. */
  agentImports(): Promise<AgentImports>
  /** Resolves after `ms`, and keeps no process alive for it. */
  after(ms: number): Promise<void>
  /** Loads what sessions need while the journal is being opened. A client that is served here waits for that too. */
  prepare(): void
  /** Interrupts or suspends what runs, ends every child, releases the state. Idempotent. */
  close(): Promise<void>
}

export interface OwnerOptions {
  readonly access?: RemoteAccess
  /** Opened for this very configuration already. */
  readonly own?: OwnJournal | undefined
}

/** Returns at once; the slow part is `sessions`. A default agent that cannot be opened does not affect other agents. */
export async function openOwner(config: Config, { access, own }: OwnerOptions = {}): Promise<Owner> {
  const journal = own ?? openOwnJournal(config)
  try {
    return await openAround(journal, config, access)
  } catch (error) {
    await (await quietly(journal.opened))?.close()
    journal.activity[Symbol.dispose]()
    throw error
  }
}

async function openAround(own: OwnJournal, config: Config, access: RemoteAccess | undefined): Promise<Owner> {
  const { activity } = own
  const log = openLog(config.home)
  const { report } = log
  const telemetry = await telemetryOf(config, log)
  const search = openSearch(config, report)
  const journal = awaitedLater(openJournal(config, { own, search, order: { access, report } }))
  let haveServices: (services: Promise<AgentServices>) => void = () => undefined
  const services = new Promise<AgentServices>((resolve) => (haveServices = resolve))
  const external = async () => loadExternalAgents(config, await services, report)
  const { agents, models } = await openUserAgents(config, external, telemetry)
  let live: ComposedSessions | undefined
  const opening = open()
  const sessions = opening.then(({ registry }) => registry)
  haveServices(opening)
  const ownership = journal.then((owned) => owned.ownership)
  // A caller that awaits one of them gets the rejection; without a caller it is not unhandled.
  for (const awaited of [ownership, sessions, services]) awaited.catch(() => undefined)
  let closing: Promise<void> | undefined
  let imports: Promise<AgentImports> | undefined

  async function openImports(): Promise<AgentImports> {
    const { openAgentImports } = await import('../agents/open-imports.ts')
    const { processes } = await services
    return openAgentImports(config, { journal: await journal, processes, clock: systemClock })
  }

  async function open(): Promise<ComposedSessions> {
    const opened = await journal
    const owned = telemetry.journal(opened)
    const { openSessions } = await loadSessions()
    live = await openSessions(config, {
      journal: owned,
      ownership: opened.claims,
      agents,
      search,
      activity,
      telemetry,
      log,
    })
    return live
  }

  async function close(): Promise<void> {
    await (await quietly(sessions))?.halt()
    await release()
  }

  async function release(): Promise<void> {
    await live?.close()
    await Promise.all([search.close(), models.close()])
    await (await quietly<Journal>(journal))?.close()
    await telemetry.close()
    activity[Symbol.dispose]()
  }

  return {
    ownership,
    sessions,
    agents,
    search,
    mcp: () => live?.tools.live() ?? [],
    complete: async (session, typed) => (await opening).tools.complete(session, typed),
    mcpServersOf: async (cwd) => (await import('./configured-mcp-servers.ts')).configuredNames(config, cwd),
    log,
    telemetry,
    cluster: async () => (await journal).node,
    credentials: async () => (await journal).credentials ?? openFiles(config.home),
    databases: async () => (await journal).databases?.() ?? [],
    activity,
    clock: systemClock,
    report,
    newId: () => systemClock.id(),
    importSession: async (importing) => (await opening).importSession(importing),
    agentImports: () => (imports ??= openImports()),
    after: (ms) => new Promise((over) => systemClock.setTimer(ms, over)),
    prepare,
    close: () => (closing ??= close()),
  }
}

/** A client that only initializes does not wait for it. */
function loadSessions() {
  return import('./sessions.ts')
}

/** Errors of loading it are thrown later, by `Owner.sessions`. */
function prepare(): void {
  loadSessions().catch(() => undefined)
}

interface Around {
  readonly own: OwnJournal
  readonly search: SearchIndex
  readonly order: ClusterOrder
}

/** It may be refused before anything awaits it. */
function awaitedLater<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined)
  return promise
}

async function openJournal(
  config: Config,
  { own, search, order }: Around,
): Promise<OwnedJournal & Partial<ClusterJournal>> {
  const journal = await (own.opened ?? openCluster(config, order))
  followJournal(journal, search)
  return journal
}

/** Every connection of a cluster's databases is loaded with it. */
async function openCluster(config: Config, order: ClusterOrder): Promise<ClusterJournal> {
  const { openClusterJournal } = await import('../cluster/open-cluster.ts')
  return openClusterJournal(config, order)
}

/** Loaded with the first client that needs one. */
async function openFiles(home: string): Promise<CredentialStore> {
  const { CredentialFiles } = await import('../../credentials/credential-store.ts')
  return new CredentialFiles(home, systemClock)
}

/** Nothing of it is loaded where the environment names no collector. */
async function telemetryOf({ environment }: Config, log: Log): Promise<ServerTelemetry> {
  if (!wantsTelemetry(environment)) return NO_TELEMETRY
  const { openTelemetry } = await import('../telemetry/open-telemetry.ts')
  return openTelemetry(environment, log)
}

/** The models of this user, or of one provider. No provider is asked and no package loaded before the first use. */
export async function openUserModels(config: Config, which: Which = {}): Promise<OwnedModels> {
  return modelsOf(config, await readProviderTables(config.environment), which)
}

export type { OwnedModels as UserModels }

/** Agents with the models of the server's environment, and agents with models for the variables that clients send. */
async function openUserAgents(
  config: Config,
  external: () => Promise<ExternalAgents>,
  telemetry: Pick<ServerTelemetry, 'models'>,
) {
  const tables = await readProviderTables(config.environment)
  const own = telemetry.models(modelsOf(config, tables))
  const lent = new ClientModels(
    (variables) => telemetry.models(modelsOf(config, tables, { lent: variables })),
    config.environment,
  )
  const modelsWith = (variables: ClientVariables) => lent.with(variables)
  const logins = (name: string) => storedLogins(join(config.home, 'agents'), name)
  const agents = openAgents({ ...agentsOptions(config, own), modelsWith, external, logins })
  return { agents, models: { close: async () => void (await Promise.all([own.close(), lent.close()])) } }
}

/** The services of sessions that external agents use. */
type AgentServices = Pick<ComposedSessions, 'processes' | 'front'>

/** Loaded with the first session that has one. */
async function loadExternalAgents(
  config: Config,
  { processes, front }: AgentServices,
  report: (error: unknown) => void,
): Promise<ExternalAgents> {
  const [{ ExternalAgents: External }, { openCatalogue, TakenSessions }] = await Promise.all([
    import('../../adapters/agent/external/agents.ts'),
    import('./agent-catalogue.ts'),
  ])
  const { catalogue, installed } = openCatalogue(config)
  const taken = new TakenSessions(installed.directory)
  const logDirectory = join(config.home, 'agents', 'logs')
  const shared = { processes, front, report, catalogue, logDirectory, taken }
  return new External({ ...shared, clock: systemClock, clientInfo: serverInfo })
}

function agentsOptions({ agent, maxSteps, modelTitles, environment }: Config, models: Models) {
  return {
    default: agentName(agent),
    clock: systemClock,
    models,
    maxSteps,
    titles: modelTitles,
    promptDirectory: promptDirectory(environment),
  }
}

/** Throws what keeps the agent from being opened. */
export async function openDefaultAgent(config: Config): Promise<void> {
  const models = await openUserModels(config)
  try {
    await openAgents(agentsOptions(config, models)).check(agentName(config.agent))
    // The agent opens a model that was named only when its first turn begins.
    if (config.agent.kind === 'model' && config.agent.model !== undefined) await models.open(config.agent.model)
  } finally {
    await models.close()
  }
}

/** Undefined for what never opened: there is nothing to close, and its callers got the error. */
async function quietly<Value>(opening: Promise<Value> | undefined): Promise<Value | undefined> {
  return opening?.catch(() => undefined)
}
