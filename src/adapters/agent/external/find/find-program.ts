/** Finds the program of an agent and the Node that runs it, without starting either. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import { type InstalledAgent, type InstalledAgents, programOf } from '../install/installed-agents.ts'
import { type KnownAgent, knownAgent } from '../known/start-table.ts'
import type { OwnAgent } from '../launch.ts'
import { findNode, pathWith } from './find-node.ts'

export interface FoundProgram {
  /** From where: the settings file, a copy of Parley's, or PATH. */
  readonly source: 'own' | 'installed' | 'path'
  readonly program: string
  readonly args: readonly string[]
  /** What of its environment follows from where it is. */
  readonly env: Readonly<Record<string, string>>
  /** Of an installed copy. */
  readonly version?: string
}

interface Looking {
  /** As people type it. */
  readonly name: string
  readonly own: OwnAgent | undefined
  /** The agent's PATH. */
  readonly path: string | undefined
}

/**
 * In this order: the command of an own entry, a copy that Parley installed, the program on PATH; the last two change places for
 * an agent whose own program speaks ACP. Throws COMMAND_NOT_FOUND, AGENT_NOT_INSTALLED and AGENT_NODE_OLD.
 */
export async function findProgram({ name, own, path }: Looking, installed: InstalledAgents): Promise<FoundProgram> {
  if (own?.command !== undefined) {
    if (!(await isThere(own.command, path))) fail('COMMAND_NOT_FOUND', { command: own.command })
    return { source: 'own', program: own.command, args: own.args ?? [], env: {} }
  }
  const id = idOf(own?.registry ?? name)
  const known = knownAgent(id)
  const copy = installed.choose(id, own?.version)
  // A user who names a version wants the copy of that version.
  const isPathFirst = known?.isOwnProgram === true && own?.version === undefined
  const there = known === undefined || own?.version !== undefined ? undefined : await onPath(known.command, path)
  const context = { known, path, nodes: installed.nodes() }
  if (there !== undefined && (isPathFirst || copy === undefined)) return ofPath(there, context)
  if (copy !== undefined) return ofCopy(copy, context)
  const wanted = own?.version === undefined ? id : `${id}@${own.version}`
  return fail('AGENT_NOT_INSTALLED', { agent: name, add: wanted })
}

/** Under which id a copy is kept. */
export function idOf(name: string): string {
  return knownAgent(name)?.id ?? name
}

interface Context {
  readonly known: KnownAgent | undefined
  readonly path: string | undefined
  readonly nodes: readonly string[]
}

async function ofPath(program: string, { known, path, nodes }: Context): Promise<FoundProgram> {
  const args = known?.args ?? []
  if (known?.node === undefined) return { source: 'path', program, args, env: {} }
  // The program on PATH begins with whatever Node comes first there.
  const node = await findNode(known.node, { path, installed: nodes })
  return { source: 'path', program, args, env: node === undefined ? {} : { PATH: pathWith(node, path) } }
}

async function ofCopy(copy: InstalledAgent, { known, path, nodes }: Context): Promise<FoundProgram> {
  const args = copy.args ?? known?.args ?? []
  const folders = copy.path.map((folder) => join(copy.directory, folder))
  const withOwn = [...folders, ...(path ?? '').split(delimiter).filter(isAbsolute)].join(delimiter)
  const found = { source: 'installed', version: copy.version } as const
  const env = { ...copy.env, ...(folders.length > 0 && { PATH: withOwn }) }
  if (!copy.isScript) return { ...found, program: programOf(copy), args, env }
  const wanted = known?.node ?? '18.0.0'
  const node = await findNode(wanted, { path, installed: nodes })
  if (node === undefined) return fail('AGENT_NODE_OLD', { agent: copy.id, wanted })
  const whole = { ...env, PATH: pathWith(node, withOwn) }
  return { ...found, program: node.program, args: [programOf(copy), ...args], env: whole }
}

/** npm puts a batch file on PATH of Windows. */
const ENDINGS = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : ['']

/** The first on PATH; a relative folder there would be one of the project's. */
async function onPath(command: string, path: string | undefined): Promise<string | undefined> {
  for (const folder of (path ?? '').split(delimiter).filter(isAbsolute)) {
    for (const ending of ENDINGS) {
      const file = join(folder, `${command}${ending}`)
      if (await isProgram(file)) return file
    }
  }
  return undefined
}

/** Whether an own command exists; one that may not be executed is refused when it is started. */
async function isThere(command: string, path: string | undefined): Promise<boolean> {
  if (!isAbsolute(command)) return path === undefined || (await onPath(command, path)) !== undefined
  const found = await Promise.all(['', ...ENDINGS].map((ending) => stat(`${command}${ending}`).catch(() => undefined)))
  return found.some((one) => one?.isFile() === true)
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    // Most folders do not have it.
    return false
  }
}
