/**
 * Finds the documents under a directory: none that is ignored, and none behind a symbolic link. Each directory is opened from
 * the one before it and held, so that a link that takes its place meanwhile leads nowhere.
 */
import { constants, type Stats } from 'node:fs'
import { access, lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type DirectoryEntry,
  namesIn,
  ignoreRulesIn,
  type IgnoreRules,
  defaultIgnoreRules,
} from '../../../workspace/walk.ts'
import {
  type OpenDirectory,
  withResolvedPath,
  openSubdirectory,
  placeIn,
  unlessAbsent,
  type Root,
} from '../../../workspace/resolve-in-roots.ts'
import { documentFormatOf } from './formats.ts'

export interface IndexableFile {
  /** The directory without links. */
  readonly root: string
  /** Relative to the directory, with `/`. */
  readonly file: string
  readonly path: string
  readonly bytes: number
  /** Changes whenever the file does. */
  readonly stamp: string
  readonly created: string
  readonly modified: string
}

export interface Walk {
  readonly files: readonly IndexableFile[]
  /** There would have been more. */
  readonly truncated: boolean
  /** The directory without links. */
  readonly real: string
  /** Says which directory this was, so that another one of its name is noticed. */
  readonly identity: string
  /** The identities of the directories in it that were looked into. */
  readonly directories: ReadonlySet<string>
}

export interface Budget {
  files: number
  bytes: number
}

export interface WalkOptions {
  /** Whether source code is a document. */
  readonly code?: boolean
  /** Lines as in an ignore file, which those of the directory itself can take back. */
  readonly skipped?: readonly string[] | undefined
}

/** Each level holds a directory open. */
const MAX_LEVELS = 100

/**
 * Null when there is no such directory now. Takes the files that it finds out of the budget. Throws where the system
 * refuses to list a directory, such as for too many open files, because an unread directory must not count as empty.
 */
export async function walk(directory: string, budget: Budget, wanted: WalkOptions = {}): Promise<Walk | null> {
  const root = await collectionRootOf(directory)
  if (root === null) return null
  const { path: real, identity } = root
  const roots = [{ given: real, real }]
  const files: IndexableFile[] = []
  const directories = new Set<string>()
  try {
    const { code = false, skipped = [] } = wanted
    const task: Task = { roots, root: real, budget, code, skipped, files, directories }
    const all = await withResolvedPath(real, { roots }, ({ held }) =>
      walkInto(task, { held, base: '', level: 0 }, defaultIgnoreRules()),
    )
    return { files, truncated: !all, real, identity, directories }
  } catch (error) {
    return unlessAbsent(error) ?? null
  }
}

/** A directory that is there, without links. */
export interface FoundRoot {
  readonly path: string
  readonly identity: string
}

/** Null when there is no such directory (now). */
export async function collectionRootOf(directory: string): Promise<FoundRoot | null> {
  try {
    const path = await realpath(directory)
    const stats = await lstat(path)
    await access(path, constants.R_OK | constants.X_OK)
    return stats.isDirectory() ? { path, identity: `${path}:${stats.dev}:${stats.ino}` } : null
  } catch {
    // Gone, not a directory, or not readable: the caller says so for all three.
    return null
  }
}

interface Task {
  readonly roots: readonly Root[]
  readonly root: string
  /** Whether source code is a document. */
  readonly code: boolean
  readonly skipped: readonly string[]
  readonly budget: Budget
  readonly files: IndexableFile[]
  readonly directories: Set<string>
}

interface Position {
  readonly held: OpenDirectory
  /** From the root on, without a slash at its end. */
  readonly base: string
  readonly level: number
}

/** False when the budget is used up. */
async function walkInto(task: Task, here: Position, above: IgnoreRules): Promise<boolean> {
  const { held, base } = here
  const entries = await list(held)
  const own = await ignoreRulesIn(held, entries, task.roots)
  // In one list with those of the directory, so that these can take back what lies deeper as well.
  const ignoring = above.below(base, here.level === 0 ? [[...task.skipped, ...own].join('\n')] : own)
  const wanted = entries.filter((entry) => {
    const isDirectory = entry.kind === 'directory'
    return (isDirectory || isDocument(entry, task.code)) && !ignoring.ignores(joinedPath(base, entry.name), isDirectory)
  })
  const files = wanted.filter(({ kind }) => kind === 'file')
  const found = await Promise.all(files.map(({ name }) => describe(task, here, name)))
  for (const file of found) if (file !== null && !takeWithinBudget(task, file)) return false
  for (const { kind, name } of wanted) {
    if (
      kind === 'directory' &&
      !(await walkDeeper(task, { ...here, base: joinedPath(base, name) }, { name, ignoring }))
    )
      return false
  }
  return true
}

interface Deeper {
  readonly name: string
  readonly ignoring: IgnoreRules
}

async function walkDeeper(task: Task, { held, base, level }: Position, { name, ignoring }: Deeper): Promise<boolean> {
  if (level + 1 >= MAX_LEVELS) return true
  const below = await openSubdirectory(held, name, task.roots)
  // It has gone, has become something else, or may not be read: there is nothing to find in it.
  if (below === undefined) return true
  try {
    const { dev, ino } = await below.handle.stat()
    task.directories.add(`${base}/:${dev}:${ino}`)
    return await walkInto(task, { held: below, base, level: level + 1 }, ignoring)
  } finally {
    await below.handle.close()
  }
}

function isDocument({ kind, name }: DirectoryEntry, code: boolean): boolean {
  return kind === 'file' && documentFormatOf(name, code) !== undefined
}

async function list(held: OpenDirectory): Promise<readonly DirectoryEntry[]> {
  return (await namesIn(held).catch(unlessAbsent))?.entries ?? []
}

async function describe({ root }: Task, { held, base }: Position, name: string): Promise<IndexableFile | null> {
  const place = await placeIn(held, name).catch(unlessAbsent)
  // Removed since its directory was listed, or a link by now.
  if (place?.found === undefined || !place.found.isFile()) return null
  const file = joinedPath(base, name)
  return { root, file, path: join(root, file), ...versionOf(place.found) }
}

function versionOf(stats: Stats): Omit<IndexableFile, 'root' | 'file' | 'path'> {
  return {
    bytes: stats.size,
    stamp: `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`,
    created: stats.birthtime.toISOString(),
    modified: stats.mtime.toISOString(),
  }
}

function takeWithinBudget({ budget, files }: Task, file: IndexableFile): boolean {
  // It is found, and skipped when it is read: it costs nothing.
  if (file.bytes > (documentFormatOf(file.file.slice(file.file.lastIndexOf('/') + 1), true)?.largest ?? 0)) {
    files.push(file)
    return true
  }
  if (budget.files < 1 || budget.bytes < file.bytes) return false
  budget.files -= 1
  budget.bytes -= file.bytes
  files.push(file)
  return true
}

function joinedPath(base: string, name: string): string {
  return base === '' ? name : `${base}/${name}`
}
