/** The one place that names every adapter, but for what commands read with: config in, an owner out. */
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { openAgents } from '../../adapters/agent/agents.ts'
import { systemClock } from '../../adapters/clock.ts'
import { faultsFrom } from '../../adapters/fault.ts'
import { type OwnedJournal, openSqliteInspector, openSqliteJournal } from '../../adapters/journal/sqlite/client.ts'
import { followed, openSearchIndex } from '../../adapters/search/worker/client.ts'
import { openModels, type OwnedModels } from '../../adapters/model/providers/models.ts'
import { killLeftovers, type Orphan, findOrphans } from '../../adapters/process/ledger.ts'
import { openProcesses } from '../../adapters/process/spawn.ts'
import { SharedActivity } from '../../adapters/watchdog/shared-activity.ts'
import type { Suggestions, Typed } from '../../adapters/tool-registry/completions.ts'
import type { StartedServer } from '../../adapters/mcp/host/mcp-types.ts'
import { type SessionServers, openToolHost } from '../../adapters/tool-registry/host.ts'
import { DocumentIndexes } from '../../adapters/builtin-tools/documents/document-indexes.ts'
import { CommandSandbox, type SandboxSettings } from '../../adapters/builtin-tools/sandbox/sandbox.ts'
import type { ToolServices } from '../../adapters/builtin-tools/toolset/tool.ts'
import type { BuiltinTools } from '../../adapters/builtin-tools/toolset/toolset.ts'
import { Checker } from '../../adapters/checking/checker.ts'
import type { Logins } from '../../adapters/mcp/oauth/authorization.ts'
import { DirectoryLogins } from '../../adapters/mcp/oauth/logins.ts'
import { agentName } from '../../config/agent-choice.ts'
import { dangerOf } from '../../config/mcp/danger.ts'
import { ProgramFinder } from '../../config/own-programs.ts'
import { promptDirectory, userFile } from '../../config/places.ts'
import { readModels } from '../../config/models/models.ts'
import type { Config } from '../../config/settings.ts'
import type { Activity } from '../../ports/values/activity.ts'
import type { Agents, ClientVariables } from '../../ports/agent.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FaultsSpec } from '../../ports/fault.ts'
import type { ImportingJournal, Journal } from '../../ports/journal.ts'
import type { Models } from '../../ports/model.ts'
import type { Ownership } from '../../ports/ownership.ts'
import type { Rules } from '../../ports/rules.ts'
import type { IndexState, SearchIndex } from '../../ports/search.ts'
import { type Importing, importSession } from '../../session/lifecycle/import.ts'
import { accessOf } from '../../session/permission/policy.ts'
import { SessionRegistry } from '../../session/registry.ts'
import { openSearch } from './compose-reading.ts'
import { configuredServers } from './configured-mcp-servers.ts'
import { logPathIn } from '../log/log-line.ts'
import { ClientModels } from './client-models.ts'
import { type Log, openLog } from '../log/log.ts'
import { PermissionRules } from './permission-rules.ts'
import { serverInfo } from '../version.ts'
import { workerUrl } from './workers.ts'

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
  complete(session: string, typed: Typed): Promise<Suggestions | undefined>
  readonly log: Log
  readonly activity: Activity
  readonly clock: Clock
  report(error: unknown): void
  newId(): string
  /** Whole or not at all. Throws SESSION_EXISTS, and what the pieces throw. */
  importSession(importing: Importing): Promise<void>
  /** Resolves after `ms`, and keeps no process alive for it. */
  after(ms: number): Promise<void>
  /** Interrupts or suspends what runs, ends every child, releases the state. Idempotent. */
  close(): Promise<void>
}

/** Returns at once; the slow part is `sessions`. A default agent that cannot be opened does not affect other agents. */
export async function openOwner(config: Config): Promise<Owner> {
  const log = openLog(config.home)
  const { report } = log
  const boot = { home: markOf(config.home), id: systemClock.id() }
  const activity = new SharedActivity(systemClock)
  const search = openSearch(config, report)
  const journal = openFollowedJournal(config, search, activity)
  const processes = openProcesses({ boot, environment: config.environment, clock: systemClock })
  const rules = new PermissionRules(config, report)
  const documents = openDocuments(rules, report)
  const checker = openChecker()
  const base = { processes, checker, activity, clock: systemClock, clientInfo: serverInfo }
  let ownTools: BuiltinTools | undefined
  const tools = openToolHost({
    ...base,
    configured: configuredServers(config, report),
    logins: loginsOf(config),
    // The session finds out whether the client of a turn has anybody to ask.
    elicitation: true,
    own: () => ownTools,
    ...toldTo(log),
  })
  const { agents, models } = openUserAgents(config)
  const sessions = open()
  const ownership = journal.then((owned) => owned.ownership)
  // A caller that awaits one of them gets the rejection; without a caller it is not unhandled.
  for (const awaited of [ownership, sessions]) awaited.catch(() => undefined)
  let closing: Promise<void> | undefined

  async function open(): Promise<SessionRegistry> {
    const faults = faultsFrom(config.faults as FaultsSpec)
    const world = { journal: await journal, clock: systemClock, faults, agents, tools, rules, report }
    ownTools = await loadOwnTools(config, { search, documents, processes, checker, activity })
    const killed = await killLeftovers(boot)
    if (killed > 0) log.note('ended what a former owner had left running', { processes: killed })
    const opened = new SessionRegistry(world)
    const recovered = await opened.recover()
    if (recovered > 0) log.note('recovered what a former owner had left open', { sessions: recovered })
    search.follow()
    return opened
  }

  async function close(): Promise<void> {
    await (await quietly(sessions))?.halt()
    await release()
  }

  async function release(): Promise<void> {
    await tools.close()
    await Promise.all([processes.close(), checker.close(), documents.close(), search.close(), models.close()])
    await (await quietly<Journal>(journal))?.close()
    activity[Symbol.dispose]()
  }

  return {
    ownership,
    sessions,
    agents,
    search,
    mcp: () => tools.live(),
    complete: (session, typed) => tools.complete(session, typed),
    log,
    activity,
    clock: systemClock,
    report,
    newId: () => systemClock.id(),
    importSession: (importing) => sessions.then(async () => bringIn(await journal, importing)),
    after: (ms) => new Promise((over) => systemClock.setTimer(ms, over)),
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** The arguments and variables of a command may be secret, so the log names only the danger that they mean. */
function toldTo(log: Log) {
  return {
    warn: log.report,
    started({ args, pid: child, ...what }: StartedServer): void {
      const danger = dangerOf(what.command, args)
      log.note('started an MCP server', { ...what, child, ...(danger !== undefined && { danger }) })
    },
  }
}

/** Loaded in the background, so that a client that only initializes does not wait for them. */
async function loadOwnTools(
  config: Config,
  services: Omit<ToolServices, 'clock' | 'programs' | 'sandbox'>,
): Promise<BuiltinTools> {
  const { openBuiltinTools } = await import('../../adapters/builtin-tools/toolset/toolset.ts')
  const programs = new ProgramFinder(config.environment.PATH)
  const sandbox = new CommandSandbox(sandboxSettings(config), {
    clock: systemClock,
    processes: services.processes,
    programs,
  })
  return openBuiltinTools({ ...services, programs, sandbox, clock: systemClock })
}

/** The path rules of one document tool apply to both, so that neither shows a document that the other may not show. */
function openDocuments(rules: Pick<Rules, 'rulesFor'>, report: (error: unknown) => void): DocumentIndexes {
  const tools = async () => {
    const { documentTools } = await import('../../adapters/builtin-tools/toolset/toolset.ts')
    return documentTools
  }
  return new DocumentIndexes({
    workerUrl: workerUrl('docs-worker'),
    access: async (roots) => accessOf(await tools(), await rules.rulesFor(roots)),
    log: report,
  })
}

/** Commands see nothing of Parley's own: its state, its configuration, its socket. */
function sandboxSettings({ home, socket, environment, commandSandbox, commandNetwork }: Config): SandboxSettings {
  const hidden = [home, dirname(userFile(environment)), dirname(socket)]
  return { mode: commandSandbox, network: commandNetwork, hidden: [...new Set(hidden)] }
}

/** Whether a sandbox for commands can be made here; tried, and nothing is left of it. */
export async function inspectSandbox(config: Config): Promise<{ readonly reason?: string }> {
  const boot = { home: markOf(config.home), id: systemClock.id() }
  const processes = openProcesses({ boot, environment: config.environment, clock: systemClock })
  const programs = new ProgramFinder(config.environment.PATH)
  try {
    const trial = await new CommandSandbox(sandboxSettings(config), { clock: systemClock, processes, programs }).try()
    return 'reason' in trial ? trial : {}
  } finally {
    await processes.close()
  }
}

async function bringIn(journal: ImportingJournal, importing: Importing): Promise<void> {
  await importSession({ journal, clock: systemClock }, importing)
}

async function openFollowedJournal(
  { home, faults, maxStallSeconds }: Config,
  search: SearchIndex,
  activity: SharedActivity,
): Promise<OwnedJournal> {
  const watch = { memory: activity.memory, logPath: logPathIn(home), maxStallSeconds }
  const opening = {
    directory: home,
    workerUrl: workerUrl('journal-worker'),
    faults: faults as FaultsSpec,
    watch,
  }
  const journal = await openSqliteJournal(opening)
  return { ...followed(journal, search), ownership: journal.ownership }
}

/** The models of this user, or of one provider. No provider is asked and no package loaded before the first use. */
export function openUserModels(
  { environment, model, discoverLocalModels }: Config,
  { only, lent }: Which = {},
): OwnedModels {
  const { providers } = readModels(environment, lent)
  // Without a key and not written down: a usual port of this machine.
  const allowed = providers.filter(
    ({ keyNames, isConfigured }) => discoverLocalModels || isConfigured || keyNames.length > 0,
  )
  const wanted = only === undefined ? allowed : allowed.filter(({ name }) => name === only)
  return openModels({ providers: wanted, preset: model, clock: systemClock })
}

export type { OwnedModels as UserModels }

interface Which {
  readonly only?: string | undefined
  /** Environment variables that a client provides. */
  readonly lent?: ClientVariables
}

/** Agents with the models of the server's environment, and agents with models for the variables that clients send. */
function openUserAgents(config: Config) {
  const own = openUserModels(config)
  const lent = new ClientModels((variables) => openUserModels(config, { lent: variables }), config.environment)
  const agents = openAgents({ ...agentsOptions(config, own), modelsWith: (variables) => lent.with(variables) })
  return { agents, models: { close: async () => void (await Promise.all([own.close(), lent.close()])) } }
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

/** The logins at MCP servers, shared by all processes that use this state directory. */
export function loginsOf({ home }: Pick<Config, 'home'>): Logins {
  return new DirectoryLogins({ directory: join(home, 'mcp-logins'), clock: systemClock })
}

/** No thread is started before there is something to check. */
function openChecker(): Checker {
  return new Checker({ workerUrl: workerUrl('check-worker'), clock: systemClock })
}

/** Tools alone, without sessions and without the state. */
export function openTools({ home, environment }: Config, warn: (sentence: string) => void) {
  const boot = { home: markOf(home), id: systemClock.id() }
  const processes = openProcesses({ boot, environment, clock: systemClock })
  const logins = loginsOf({ home })
  const checker = openChecker()
  const host = openToolHost({ processes, checker, clock: systemClock, clientInfo: serverInfo, warn, logins })
  const close = async (): Promise<void> => {
    await host.close()
    await Promise.all([processes.close(), checker.close()])
  }
  return { host, after: (ms: number) => systemClock.sleep(ms), close }
}

export interface JournalState {
  readonly sessions: number
  readonly entries: number
  /** A sentence for each thing that is wrong. */
  readonly wrong: readonly string[]
}

/** Reads the whole journal and changes nothing. Throws what keeps it from being read. */
export async function inspectJournal({ home }: Config): Promise<JournalState> {
  const journal = await openSqliteInspector({ directory: home, workerUrl: workerUrl('journal-worker') })
  try {
    const wrong = await journal.check()
    const rows = wrong.length > 0 ? [] : await journal.list({ limit: Number.MAX_SAFE_INTEGER })
    return { sessions: rows.length, entries: rows.reduce((sum, { lastSeq }) => sum + lastSeq, 0), wrong }
  } finally {
    await journal.close()
  }
}

/** Changes nothing either. */
export async function inspectSearchIndex({ home }: Config): Promise<IndexState> {
  const index = openSearchIndex({
    directory: home,
    workerUrl: workerUrl('search-worker'),
    clock: systemClock,
    quiet: true,
    report: () => undefined,
  })
  try {
    return await index.inspect()
  } finally {
    await index.close()
  }
}

/** Processes that former owners of this state directory left running. */
export function orphansOf(home: string, owner: number | undefined): Promise<readonly Orphan[]> {
  return findOrphans(markOf(home), owner)
}

/** Throws what keeps the agent from being opened. */
export async function openDefaultAgent(config: Config): Promise<void> {
  const models = openUserModels(config)
  try {
    await openAgents(agentsOptions(config, models)).check(agentName(config.agent))
    // The agent opens a model that was named only when its first turn begins.
    if (config.agent.kind === 'model' && config.agent.model !== undefined) await models.open(config.agent.model)
  } finally {
    await models.close()
  }
}

/** Marks the child processes of a state directory. */
function markOf(home: string): string {
  return createHash('sha256').update(home).digest('hex').slice(0, 12)
}

/** Undefined for what never opened: there is nothing to close, and its callers got the error. */
async function quietly<Value>(opening: Promise<Value>): Promise<Value | undefined> {
  return opening.catch(() => undefined)
}
