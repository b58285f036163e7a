/** The external agents of a configuration: put together for a server, and for the commands of `parley agents`. */
import { systemClock } from '../../adapters/clock.ts'
import { AgentCatalogue, type CatalogueSources } from '../../adapters/agent/external/catalogue.ts'
import { RegistryIndex } from '../../adapters/agent/external/find/registry-index.ts'
import type { InstallerEnvironments } from '../../adapters/agent/external/install/install.ts'
import { InstalledAgents } from '../../adapters/agent/external/install/installed-agents.ts'
import type { LaunchPlace, OwnAgent } from '../../adapters/agent/external/launch.ts'
import { StoredOffers } from '../../adapters/agent/external/probe/stored-offers.ts'
import { knownAgent } from '../../adapters/agent/external/known/start-table.ts'
import { childEnvironment, homeMark } from '../../adapters/process/environment.ts'
import { type FoundAgent, readAgentFiles, startable } from '../../config/agents/agent-files.ts'
import { openProcesses } from '../../adapters/process/open-processes.ts'
import type { Config } from '../../config/settings.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Processes } from '../../ports/process.ts'

export { idOf as canonicalId } from '../../adapters/agent/external/find/find-program.ts'
export { install, uninstall } from '../../adapters/agent/external/install/install.ts'
export type { InstalledAgent } from '../../adapters/agent/external/install/installed-agents.ts'
export type { AgentLaunch, AgentOffers, LoginMethod } from '../../adapters/agent/external/launch.ts'
export {
  type OwnSession,
  type OwnSessions,
  type OwnSessionsParts,
  withOwnSessions,
} from '../../adapters/agent/external/own-sessions/own-sessions.ts'
export { type Taken, TakenSessions } from '../../adapters/agent/external/own-sessions/taken-sessions.ts'
export { systemClock }
export { Secrets } from '../../adapters/agent/external/process/mask-secrets.ts'
export type { Lost } from '../../adapters/agent/external/quirks.ts'
export { type ShowPage, authenticateAgent, probeAgent } from '../../adapters/agent/external/probe/probe.ts'
export { type Finding, tryTurns } from '../../adapters/agent/external/probe/try-turns.ts'
export { type TerminalLogin, terminalLogin } from '../../adapters/agent/external/probe/terminal-login.ts'
export { type InstallProgress, ProgressFile, type Tell } from '../../adapters/agent/external/install/progress.ts'
export {
  type Wanted,
  wantedLine,
  wantedOfRegistry,
  wantedOfTable,
} from '../../adapters/agent/external/install/wanted.ts'
export { knownAgent as knownAgentOf }

/** Further variables for agents, which open browsers and use SSH keys. */
const BASE = ['SSH_AUTH_SOCK', 'DISPLAY', 'WAYLAND_DISPLAY'] as const

/** The parts of a catalogue, for commands that change them. */
export interface CatalogueParts extends CatalogueSources {
  readonly catalogue: AgentCatalogue
}

export function openCatalogue(config: Config): CatalogueParts {
  const installed = new InstalledAgents(config.home)
  const { directory } = installed
  const sources: CatalogueSources = {
    own: (place) => ownAgents(config, place),
    environment: (names, place) => agentEnvironment(config.environment, names, place),
    registry: new RegistryIndex({ directory, url: config.agentsRegistry, clock: systemClock }),
    installed,
    offers: new StoredOffers(directory),
  }
  return { ...sources, catalogue: new AgentCatalogue(sources) }
}

/** One entry for each name: the user's own one, else the project's. */
function ownAgents(config: Config, place: Partial<LaunchPlace>): readonly OwnAgent[] {
  const { agents } = readAgentFiles(config, place.cwd)
  const environment = { ...place.variables, ...config.environment }
  return agents.filter(({ standing }) => standing !== 'overruled').map((found) => ownAgent(found, environment))
}

function ownAgent(found: FoundAgent, environment: Config['environment']): OwnAgent {
  const ready = startable(found, environment)
  const { quirks, ...entry } = 'entry' in ready ? ready.entry : { ...found.entry, env: {} }
  const refused = 'refused' in ready ? { refused: ready.refused, refusedWhy: ready.why } : {}
  return { ...entry, quirks, ...refused }
}

/** The variables of the client count where the server has none of that name. */
function agentEnvironment(
  ours: Config['environment'],
  names: readonly string[],
  { cwd, variables }: LaunchPlace,
): Readonly<Record<string, string>> {
  const patterns = [...BASE, ...names]
  const passed = Object.entries({ ...variables, ...ours }).flatMap(([name, value]) =>
    value !== undefined && patterns.some((pattern) => fits(name, pattern)) ? [[name, value] as const] : [],
  )
  const { PARLEY_CHILD: _marker, ...whole } = childEnvironment(ours, {
    cwd,
    added: Object.fromEntries(passed),
    marker: '',
  })
  return whole
}

function fits(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** What commands about agents work with: the catalogue, and processes of their own. */
export interface AgentTools extends CatalogueParts {
  readonly processes: Processes
  readonly clock: Clock
  readonly installerEnvironments: InstallerEnvironments
  close(): Promise<void>
}

/** What the user has set for npm by its variables; what `npm run` sets for its own scripts would mislead another npm. */
const NPM_SETTINGS = [
  'registry',
  'userconfig',
  'cache',
  'proxy',
  'https_proxy',
  'noproxy',
  'cafile',
  'offline',
] as const

/** Where uv gets packages, and which Python it takes. Others are secrets: `UV_PUBLISH_TOKEN`, `UV_INDEX_NAME_PASSWORD`. */
const UV_SETTINGS = [
  'INDEX',
  'DEFAULT_INDEX',
  'INDEX_URL',
  'EXTRA_INDEX_URL',
  'CONFIG_FILE',
  'CACHE_DIR',
  'NATIVE_TLS',
  'SYSTEM_CERTS',
  'OFFLINE',
  'PYTHON',
  'PYTHON_INSTALL_DIR',
] as const

export function openAgentTools(config: Config): AgentTools {
  const boot = { home: homeMark(config.home), id: systemClock.id() }
  const processes = openProcesses({ boot, environment: config.environment, clock: systemClock })
  const parts = openCatalogue(config)
  const names = NPM_SETTINGS.flatMap((name) => [`npm_config_${name}`, `NPM_CONFIG_${name.toUpperCase()}`])
  const place = { cwd: config.home }
  const installerEnvironments = {
    npm: parts.environment(names, place),
    uv: parts.environment(
      UV_SETTINGS.map((name) => `UV_${name}`),
      place,
    ),
  }
  return { ...parts, processes, clock: systemClock, installerEnvironments, close: () => processes.close() }
}
