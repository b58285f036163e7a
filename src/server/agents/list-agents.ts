/** What `parley agents ls` shows: every agent that a user can name here, and its state. */
import { type FoundAgent, readAgentFiles } from '../../config/agents/agent-files.ts'
import type { Config } from '../../config/settings.ts'
import { isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { type CatalogueParts, knownAgentOf } from '../compose/agent-catalogue.ts'

export interface ListedAgent {
  readonly name: string
  readonly title?: string
  /** `none`: it can be installed, or its program put on PATH. */
  readonly source: 'user' | 'project' | 'installed' | 'path' | 'none'
  /** Of the settings file that names it. */
  readonly file?: string
  readonly command?: string
  readonly version?: string
  /** A later version that Parley was tried with, or that the registry has. */
  readonly newer?: string
  /** Whether Parley was tried with this version. */
  readonly isVerified: boolean
  /** As it was when the agent was last met. */
  readonly login: 'needed' | 'done' | 'unknown'
  /** Why it cannot be started, and what to type. */
  readonly reason?: string
}

/** With `cwd`, also those of the project there. The registry is not asked. */
export async function listAgents(config: Config, tools: CatalogueParts, cwd: string): Promise<readonly ListedAgent[]> {
  const { agents } = readAgentFiles(config, cwd)
  const own = agents.filter(({ standing }) => standing !== 'overruled')
  const names = tools.catalogue.names(cwd)
  const rows = await Promise.all(
    names.map((name) =>
      listed(tools, {
        name,
        cwd,
        found: own.find(({ entry }) => entry.name === name),
      }),
    ),
  )
  return rows.toSorted((a, b) => Number(a.source === 'none') - Number(b.source === 'none'))
}

interface NamedAgent {
  readonly name: string
  readonly cwd: string
  readonly found: FoundAgent | undefined
}

async function listed(tools: CatalogueParts, { name, cwd, found }: NamedAgent): Promise<ListedAgent> {
  const { catalogue } = tools
  const title = knownAgentOf(found?.entry.registry ?? name)?.title
  const about = { name, ...(title !== undefined && { title }), ...(found !== undefined && { file: found.file }) }
  const offers = catalogue.offers(name)
  const login = offers === undefined ? 'unknown' : offers.needsLogin ? 'needed' : 'done'
  try {
    const { program, args, version } = await catalogue.launch(name, { cwd })
    const isCopy = [program, ...args].some((word) => word.startsWith(`${tools.installed.directory}/`))
    const source = found?.entry.command === undefined ? (isCopy ? 'installed' : 'path') : found.from
    const isVerified = catalogue.chosen(name, { agentName: offers?.agentName, version }).isVerified
    const newer = catalogue.newer(name, version)
    const line = [program, ...args].join(' ')
    return {
      ...about,
      source,
      command: line,
      isVerified,
      login,
      ...(version !== undefined && { version }),
      ...(newer !== undefined && { newer }),
    }
  } catch (error) {
    const isAbsent = isParleyError(error, 'AGENT_NOT_INSTALLED')
    const source = found?.from ?? 'none'
    const reason = tools.own({ cwd }).find((own) => own.name === name)?.refusedWhy ?? reasonOf(error)
    return { ...about, source: isAbsent ? 'none' : source, isVerified: false, login, reason }
  }
}
