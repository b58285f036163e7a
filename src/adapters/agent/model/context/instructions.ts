/** Instruction files of a project: AGENTS.md, else CLAUDE.md, else GEMINI.md, read only inside its root. */
import { open, realpath, stat } from 'node:fs/promises'
import { constants } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isWithin } from '../../../../path-rules/path-rules.ts'
import type { PathAccessFilter } from '../../../../ports/values/path-access.ts'
import { type Instruction, instructionText } from './system-prompt.ts'
import type { Content } from '../../../../ports/values/content.ts'
import type { ModelToolCall } from '../../../../ports/model.ts'
import type { TurnWork } from './context.ts'

/** The roots, and what permission rules keep from being read. */
interface ReadOptions {
  readonly roots: readonly string[]
  readonly pathAccess: PathAccessFilter
}

interface RootDirectory {
  readonly root: string
  readonly pathAccess: PathAccessFilter
}

const NAMES = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md']

/** Bytes that are read of one file. */
const MAX_FILE_BYTES = 32 * 1024

/** The instruction files of the roots. */
export async function instructionsOf({ roots, pathAccess }: ReadOptions): Promise<readonly Instruction[]> {
  const found = await Promise.all(roots.map((root) => instructionIn(root, { root, pathAccess })))
  return found.filter((one) => one !== undefined)
}

/** Those of the directories between a root and a file that a tool worked on, outermost first, without those the model has seen. */
async function nestedInstructions(
  path: string,
  { roots, known, pathAccess }: ReadOptions & { readonly known: ReadonlySet<string> },
): Promise<readonly Instruction[]> {
  const [cwd = '/'] = roots
  const file = resolve(cwd, path)
  const root = roots.find((one) => isWithin(file, one))
  if (root === undefined) return []
  const found = await Promise.all(
    directoriesDown(root, file).map((directory) => instructionIn(directory, { root, pathAccess })),
  )
  return found.filter((one) => one !== undefined).filter(({ path }) => !known.has(path))
}

/** The text of a file inside a root; undefined if it does not exist or must not be read. Never throws. */
export async function readInside(path: string, { root, pathAccess }: RootDirectory): Promise<string | undefined> {
  try {
    // Opening a pipe would block.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const opened = await file.stat()
      const real = await realpath(path)
      const named = await stat(real)
      // Checks the opened file itself, so that a link that is swapped meanwhile leads nowhere.
      const isSame = opened.ino === named.ino && opened.dev === named.dev
      if (!opened.isFile() || !isSame || !isWithin(real, await realpath(root))) return undefined
      if (pathAccess(real) !== undefined) return undefined
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FILE_BYTES), 0, MAX_FILE_BYTES, 0)
      const text = buffer.toString('utf8', 0, bytesRead)
      return opened.size > MAX_FILE_BYTES ? `${text}\n[… cut after ${MAX_FILE_BYTES} bytes]` : text
    } finally {
      await file.close()
    }
  } catch {
    // Most directories have none.
    return undefined
  }
}

/** Whether `readInside` would find a file. Never throws. */
export async function isFileInside(root: string, path: string): Promise<boolean> {
  try {
    const real = await realpath(path)
    return isWithin(real, await realpath(root)) && (await stat(real)).isFile()
  } catch {
    // A dangling link.
    return false
  }
}

async function instructionIn(directory: string, place: RootDirectory): Promise<Instruction | undefined> {
  for (const name of NAMES) {
    const path = join(directory, name)
    const text = await readInside(path, place)
    if (text !== undefined && text.trim() !== '') return { path, text }
  }
  return undefined
}

/** The directories from the root down to the file, at most sixteen. */
function directoriesDown(root: string, file: string): readonly string[] {
  const directories: string[] = []
  for (let at = dirname(file); at !== root && isWithin(at, root) && directories.length < 16; at = dirname(at)) {
    directories.unshift(at)
  }
  return directories
}

export interface AnnouncedFiles {
  readonly content: readonly Content[]
  readonly paths: readonly string[]
}

export async function directoryInstructions({ turn, context }: TurnWork, call: ModelToolCall): Promise<AnnouncedFiles> {
  const paths = pathsIn(call.args)
  if (paths.length === 0) return { content: [], paths: [] }
  const pathAccess = await turn.pathAccess()
  const found = await Promise.all(
    paths.map((path) => nestedInstructions(path, { roots: turn.roots, known: context.announcedFiles, pathAccess })),
  )
  const fresh = new Map(found.flat().map((one) => [one.path, one]))
  return {
    content: [...fresh.values()].map((one) => ({ type: 'text', text: instructionText(one) })),
    paths: [...fresh.keys()],
  }
}

/** Names of arguments in which tools take paths. */
function pathsIn(args: unknown): readonly string[] {
  if (typeof args !== 'object' || args === null) return []
  const { path, file_path: filePath, paths } = args as Readonly<Record<string, unknown>>
  const all = [path, filePath, ...(Array.isArray(paths) ? (paths as readonly unknown[]).slice(0, 16) : [])]
  return all.filter((one): one is string => typeof one === 'string' && !one.includes('\0'))
}
