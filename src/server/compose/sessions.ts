/**
 * What sessions need beyond the journal: tools, MCP servers, permission rules, children. `compose.ts` loads it in the
 * background, so that the answer to `initialize` waits for none of it.
 */
import { dirname, join } from 'node:path'
import { systemClock } from '../../adapters/clock.ts'
import { faultsFrom } from '../../adapters/fault.ts'
import { DocumentIndexes } from '../../adapters/builtin-tools/documents/document-indexes.ts'
import { CommandSandbox, type SandboxSettings } from '../../adapters/builtin-tools/sandbox/sandbox.ts'
import { builtinTools, documentTools } from '../../adapters/builtin-tools/toolset/tool-table.ts'
import { BuiltinToolsets } from '../../adapters/builtin-tools/toolset/tool.ts'
import { Checker } from '../../adapters/checking/checker.ts'
import type { StartedServer } from '../../adapters/mcp/host/mcp-types.ts'
import type { Logins } from '../../adapters/mcp/oauth/authorization.ts'
import { DirectoryLogins } from '../../adapters/mcp/oauth/logins.ts'
import { killLeftovers } from '../../adapters/process/leftovers.ts'
import { homeMark } from '../../adapters/process/environment.ts'
import { openProcesses } from '../../adapters/process/open-processes.ts'
import { type McpHost, openToolHost } from '../../adapters/tool-registry/host.ts'
import { dangerOf } from '../../config/mcp/danger.ts'
import { ProgramFinder } from '../../config/own-programs.ts'
import { userFile } from '../../config/places.ts'
import type { Config } from '../../config/settings.ts'
import type { Activity } from '../../ports/values/activity.ts'
import type { Agents } from '../../ports/agent.ts'
import type { FaultsSpec } from '../../ports/fault.ts'
import type { ImportingJournal } from '../../ports/journal.ts'
import type { McpFront } from '../../ports/mcp-front.ts'
import type { SessionOwnership } from '../../ports/ownership.ts'
import type { Processes } from '../../ports/process.ts'
import type { Rules } from '../../ports/rules.ts'
import type { SearchIndex } from '../../ports/search.ts'
import { type Importing, importSession } from '../../session/lifecycle/import-session.ts'
import { accessOf } from '../../session/permission/policy.ts'
import { SessionRegistry } from '../../session/session-registry.ts'
import { configuredServers } from './configured-mcp-servers.ts'
import type { Log } from '../log/log.ts'
import type { ServerTelemetry } from '../telemetry/server-telemetry.ts'
import { LazyMcpFront } from '../agents/mcp-front.ts'
import { PermissionRules } from './permission-rules.ts'
import { serverInfo } from '../server-info.ts'
import { workerUrl } from './workers.ts'

/** What the owner has opened already; it closes these itself. */
export interface OwnerServices {
  readonly journal: ImportingJournal
  /** Of each session; absent where one process has them all. */
  readonly ownership: SessionOwnership | undefined
  readonly agents: Agents
  readonly search: SearchIndex
  readonly activity: Activity
  readonly telemetry: ServerTelemetry
  readonly log: Log
}

export interface ComposedSessions {
  readonly registry: SessionRegistry
  readonly tools: McpHost
  /** The children of this server. */
  readonly processes: Processes
  /** How external agents reach the MCP servers of their sessions. */
  readonly front: McpFront
  /** Whole or not at all. Throws SESSION_EXISTS, and what the pieces throw. */
  importSession(importing: Importing): Promise<void>
  /** Ends every child. Call it when the registry has halted. */
  close(): Promise<void>
}

/** Settles what a former owner left: its children are ended, its turns are ended or suspended. Then search follows. */
export async function openSessions(config: Config, services: OwnerServices): Promise<ComposedSessions> {
  const { journal, ownership, agents, search, activity, telemetry, log } = services
  const { report } = log
  const boot = { home: homeMark(config.home), id: systemClock.id() }
  const whenRenewed = ownership && ((listener: (ms: number) => void) => ownership.whenRenewed(listener))
  const processes = openProcesses({ boot, environment: config.environment, clock: systemClock, whenRenewed })
  const rules = new PermissionRules(config, report, systemClock)
  const documents = openDocuments(rules, report)
  const checker = openChecker()
  const programs = new ProgramFinder(config.environment.PATH)
  const sandbox = new CommandSandbox(sandboxSettings(config), { clock: systemClock, processes, programs })
  const base = { processes, checker, activity, clock: systemClock }
  const builtin = new BuiltinToolsets({ ...base, search, documents, programs, sandbox }, builtinTools)
  const host = openToolHost({
    ...base,
    clientInfo: serverInfo,
    configured: configuredServers(config, report, () => systemClock.now()),
    logins: loginsOf(config),
    // The session finds out whether the client of a turn has anybody to ask.
    elicitation: true,
    own: () => builtin,
    ...toldTo(log),
  })
  const tools = telemetry.tools(host)
  const front = new LazyMcpFront(tools, rules)
  const faults = faultsFrom(config.faults as FaultsSpec)
  const ports = { journal, ownership, clock: systemClock, faults, agents, tools, rules, report }
  const registry = new SessionRegistry(ports)
  telemetry.gauge('parley.sessions', '{session}', () => registry.counts().sessions)
  const close = async (): Promise<void> => {
    await front.close()
    await tools.close()
    await Promise.all([processes.close(), checker.close(), documents.close()])
  }
  try {
    const killed = await killLeftovers(boot)
    if (killed > 0) log.note('ended what a former owner had left running', { processes: killed })
    const recovered = await registry.recover()
    if (recovered > 0) log.note('recovered what a former owner had left open', { sessions: recovered })
    ownership?.whenWentBack((id, error) => registry.lose(id, error))
    ownership?.whenOrphaned(() => void registry.recover().catch(report))
  } catch (error) {
    await close()
    throw error
  }
  search.follow()
  return {
    registry,
    tools,
    processes,
    front,
    importSession: (importing) => importSession({ journal, clock: systemClock }, importing),
    close,
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

/** The path rules of one document tool apply to both, so that neither shows a document that the other may not show. */
function openDocuments(rules: Pick<Rules, 'rulesFor'>, report: (error: unknown) => void): DocumentIndexes {
  return new DocumentIndexes({
    workerUrl: workerUrl('docs-worker'),
    access: async (roots) => accessOf(documentTools, await rules.rulesFor(roots)),
    log: report,
  })
}

/** Commands see nothing of Parley's own: its state, its configuration, its socket. */
export function sandboxSettings({
  home,
  socket,
  environment,
  commandSandbox,
  commandNetwork,
}: Config): SandboxSettings {
  const hidden = [home, dirname(userFile(environment)), dirname(socket)]
  return { mode: commandSandbox, network: commandNetwork, hidden: [...new Set(hidden)] }
}

/** The logins at MCP servers, shared by all processes that use this state directory. */
export function loginsOf({ home }: Pick<Config, 'home'>): Logins {
  return new DirectoryLogins({ directory: join(home, 'mcp-logins'), clock: systemClock })
}

/** No thread is started before there is something to check. */
export function openChecker(): Checker {
  return new Checker({ workerUrl: workerUrl('check-worker'), clock: systemClock })
}
