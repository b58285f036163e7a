/** `parley agents add` and `rm`: which version of which agent, and its installation. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import {
  type AgentTools,
  type InstalledAgent,
  type Tell,
  type Wanted,
  canonicalId,
  install,
  uninstall,
  wantedOfRegistry,
  wantedOfTable,
} from '../compose/agent-catalogue.ts'

export interface Chosen {
  readonly wanted: Wanted
  /** Parley was not tried with it: the user agrees to its line first. */
  readonly isFromRegistry: boolean
  /** Why an old copy of the registry had to do. */
  readonly stale?: string
}

/** `name` or `name@1.2.3`. */
export function splitName(text: string): { readonly name: string; readonly version?: string } {
  const [, name = text, version] = /^(.+?)(?:@(.*))?$/u.exec(text) ?? []
  return version === undefined ? { name } : { name, version }
}

/** The registry is asked only for what the start table does not have. Throws AGENT_UNKNOWN, AGENT_REGISTRY, AGENT_INSTALL, AGENT_VERSION. */
export async function chooseWanted(text: string, tools: AgentTools, signal: AbortSignal): Promise<Chosen> {
  const { name, version } = splitName(text)
  const wanted = wantedOfTable(name, version)
  if (wanted !== undefined) return { wanted, isFromRegistry: false }
  const { entries, stale } = await tools.registry.ask(signal)
  const id = canonicalId(name)
  const entry = entries.find((one) => [name, `${name}-acp`].includes(one.id) || canonicalId(one.id) === id)
  if (entry !== undefined) {
    const about = stale === undefined ? {} : { stale }
    return { wanted: wantedOfRegistry(entry, version), isFromRegistry: true, ...about }
  }
  const isKnown = tools.catalogue.fullName(name) !== undefined
  const reason = 'Parley cannot install it; install its program yourself, so that it is on PATH'
  return isKnown
    ? fail('AGENT_INSTALL', { agent: name, reason })
    : fail('AGENT_UNKNOWN', { agent: name, candidates: tools.catalogue.candidates(name).join(', ') })
}

export interface Adding {
  readonly tell: Tell
  readonly signal: AbortSignal
  /** Asked when no Node here is new enough; true to install one for agents. */
  mayInstallNode(wanted: string): Promise<boolean>
}

/** Throws AGENT_INSTALL, AGENT_NODE_OLD, FILE_BUSY, or the reason of the signal. */
export async function addAgent(wanted: Wanted, tools: AgentTools, adding: Adding): Promise<InstalledAgent> {
  const { tell, signal } = adding
  const installing = { ...tools, tell, signal }
  try {
    return await install(wanted, installing)
  } catch (error) {
    if (!isParleyError(error, 'AGENT_NODE_OLD') || !(await adding.mayInstallNode(error.details.wanted))) throw error
    const node = wantedOfTable('node', undefined)
    if (node === undefined) throw error
    await install(node, installing)
    return install(wanted, installing)
  }
}

/** Whether there was a copy. */
export function removeAgent(text: string, tools: AgentTools): Promise<boolean> {
  const { name, version } = splitName(text)
  return uninstall(canonicalId(name), version, tools)
}
