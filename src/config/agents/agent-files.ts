/** The external agents of the user's file and of a project's, and which of them may be started. */
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { parse } from 'smol-toml'
import { reasonOf } from '../../errors/parley-error.ts'
import { MAX_PROJECT_BYTES, readTextSync } from '../../state-files/bounded-read.ts'
import { filledInTexts } from '../files/variables.ts'
import { isAllowed } from '../mcp/trust-store.ts'
import { PROJECT_FILE, projectFile, userFile } from '../places.ts'
import type { SettingMistake } from '../tables.ts'
import type { AgentEntry } from '../../ports/values/agent-settings.ts'
import { readAgents } from './agent-entries.ts'

export interface FoundAgent {
  readonly entry: AgentEntry
  readonly file: string
  readonly from: 'user' | 'project'
  /** A hash of exactly the text that the user consents to. */
  readonly digest: string
  /** A project's agent waits until the user allows it, and never replaces one of the user with the same name. */
  readonly standing: 'active' | 'waiting' | 'overruled'
}

export interface AgentFiles {
  readonly agents: readonly FoundAgent[]
  /** Mistakes in single agents or whole files, without secrets. */
  readonly faults: readonly (SettingMistake & { readonly file: string })[]
}

interface SettingsLocation {
  readonly home: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Never throws: a mistake in one agent does not affect the others. Without `cwd` only the user's file is read. */
export function readAgentFiles({ home, environment }: SettingsLocation, cwd?: string): AgentFiles {
  const user = readOne(userFile(environment), 'user')
  const project = cwd === undefined ? NOTHING : readOne(projectFile(cwd), 'project')
  const own = new Set(user.agents.map(({ entry }) => entry.name))
  const theirs = project.agents.map((found): FoundAgent => {
    if (own.has(found.entry.name)) return { ...found, standing: 'overruled' }
    return { ...found, standing: isAllowed(home, found.digest) ? 'active' : 'waiting' }
  })
  return { agents: [...user.agents, ...theirs], faults: [...user.faults, ...project.faults] }
}

/** Why an agent cannot be started now, in half a sentence: for everyone, and with files and variables for `parley agents ls`. */
interface Refused {
  readonly refused: string
  readonly why: string
}

/** The entry with its variables replaced, or why it cannot be started now. */
export function startable(
  { entry, file, standing }: FoundAgent,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly entry: AgentEntry } | Refused {
  if (standing === 'waiting') {
    const words = `names it, and you have not allowed it; type parley agents trust ${entry.name} there`
    return { refused: `the ${PROJECT_FILE} of the project ${words}`, why: `${file} ${words}` }
  }
  const filled = filledInTexts({ args: entry.args ?? [], env: entry.env }, environment)
  if ('missing' in filled) {
    const which = filled.missing.map((one) => `\${${one}}`).join(' and ')
    return {
      refused: 'its settings need a variable that the server does not have; there, parley agents ls says which',
      why: `${file} needs ${which}, which the environment of the server does not have`,
    }
  }
  return { entry: { ...entry, env: filled.env, ...(entry.args !== undefined && { args: filled.args }) } }
}

const NOTHING: AgentFiles = { agents: [], faults: [] }

function readOne(file: string, from: FoundAgent['from']): AgentFiles {
  try {
    const text = readTextSync(file, from === 'project' ? MAX_PROJECT_BYTES : undefined)
    if (text === undefined) return NOTHING
    const { agents = {} } = parse(text)
    const read = readAgents(agents, from)
    const real = realpathSync(file)
    return {
      agents: read.flatMap((one) =>
        'entry' in one
          ? [{ entry: one.entry, file, from, digest: digestOf(real, one.entry), standing: 'active' as const }]
          : [],
      ),
      faults: read.flatMap((one) => ('fault' in one ? [{ ...one.fault, file }] : [])),
    }
  } catch (error) {
    return { agents: [], faults: [{ key: file, value: 'read', reason: reasonOf(error), file }] }
  }
}

/** The same words in another project start another program. */
function digestOf(file: string, entry: AgentEntry): string {
  return createHash('sha256')
    .update(JSON.stringify(['agent', file, entry]))
    .digest('hex')
}
