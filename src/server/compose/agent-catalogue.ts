/** The external agents of a configuration: put together for a server, and for the commands of `parley agents`. */
import { systemClock } from '../../adapters/clock.ts'
import { AgentCatalogue, type CatalogueSources } from '../../adapters/agent/external/catalogue.ts'
import { RegistryIndex } from '../../adapters/agent/external/find/registry-index.ts'
import { InstalledAgents } from '../../adapters/agent/external/install/installed-agents.ts'
import type { LaunchPlace, OwnAgent } from '../../adapters/agent/external/launch.ts'
import { StoredOffers } from '../../adapters/agent/external/probe/stored-offers.ts'
import { childEnvironment } from '../../adapters/process/environment.ts'
import { type FoundAgent, readAgentFiles, startable } from '../../config/agents/agent-files.ts'
import type { Config } from '../../config/settings.ts'

/** What every child gets is not enough for agents: they open browsers and use keys of SSH. */
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
  const refused = 'refused' in ready ? { refused: ready.refused } : {}
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
