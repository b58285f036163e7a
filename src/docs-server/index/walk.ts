/** Finds the documents under a directory: none that is ignored, and none behind a symbolic link. */
import type { Dirent, Stats } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { formatOf } from './formats.ts'
import { type IgnoreRules, isIgnored, rulesIn } from './ignored.ts'

export interface FoundFile {
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
  readonly files: readonly FoundFile[]
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

/** Null when there is no such directory (now). Takes what it finds out of the budget. */
export async function walk(directory: string, budget: Budget, code = false): Promise<Walk | null> {
  const root = await rootOf(directory)
  if (root === null) return null
  const files: FoundFile[] = []
  const directories = new Set<string>()
  const truncated = !(await walkInto({ root: root.path, budget, code, files, directories }, '', []))
  return { files, truncated, real: root.path, identity: root.identity, directories }
}

/** A directory that is there, without links. */
export interface FoundRoot {
  readonly path: string
  readonly identity: string
}

/** Null when there is no such directory (now). */
export async function rootOf(directory: string): Promise<FoundRoot | null> {
  try {
    const path = await realpath(directory)
    const stats = await lstat(path)
    await readdir(path)
    return stats.isDirectory() ? { path, identity: `${path}:${stats.dev}:${stats.ino}` } : null
  } catch {
    // Gone, not a directory, or not readable: the caller says so for all three.
    return null
  }
}

interface Task {
  readonly root: string
  /** Whether source code is a document. */
  readonly code: boolean
  readonly budget: Budget
  readonly files: FoundFile[]
  readonly directories: Set<string>
}

/** False when the budget is used up. */
async function walkInto(task: Task, base: string, above: IgnoreRules): Promise<boolean> {
  const entries = await list(join(task.root, base))
  const rules = await rulesIn(task.root, base, above)
  const wanted = entries.filter((entry) => {
    const path = `${base}${entry.name}${entry.isDirectory() ? '/' : ''}`
    return (entry.isDirectory() || isDocument(entry, task.code)) && !isIgnored(path, entry.name, rules)
  })
  const files = wanted.filter((entry) => isDocument(entry, task.code))
  const found = await Promise.all(files.map((entry) => describe(task.root, `${base}${entry.name}`)))
  for (const file of found) if (file !== null && !take(task, file)) return false
  for (const entry of wanted) {
    if (entry.isDirectory() && !(await walkDeeper(task, `${base}${entry.name}/`, rules))) return false
  }
  return true
}

async function walkDeeper(task: Task, base: string, above: IgnoreRules): Promise<boolean> {
  const identity = await lstat(join(task.root, base)).then(
    ({ dev, ino }) => `${base}:${dev}:${ino}`,
    // Removed since it was listed; there will be nothing in it either.
    () => base,
  )
  task.directories.add(identity)
  return walkInto(task, base, above)
}

function isDocument(entry: Dirent, code: boolean): boolean {
  return entry.isFile() && formatOf(entry.name, code) !== undefined
}

async function list(path: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    // Removed since it was listed, or not ours to read: there is nothing to find in it.
    return []
  }
}

async function describe(root: string, file: string): Promise<FoundFile | null> {
  const path = join(root, file)
  try {
    const stats = await lstat(path)
    return stats.isFile() ? { file, path, ...described(stats) } : null
  } catch {
    // Removed since its directory was listed.
    return null
  }
}

function described(stats: Stats): Omit<FoundFile, 'file' | 'path'> {
  return {
    bytes: stats.size,
    stamp: `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`,
    created: stats.birthtime.toISOString(),
    modified: stats.mtime.toISOString(),
  }
}

function take({ budget, files }: Task, file: FoundFile): boolean {
  // It is found, and skipped when it is read: it costs nothing.
  if (file.bytes > (formatOf(file.file.slice(file.file.lastIndexOf('/') + 1), true)?.largest ?? 0)) {
    files.push(file)
    return true
  }
  if (budget.files < 1 || budget.bytes < file.bytes) return false
  budget.files -= 1
  budget.bytes -= file.bytes
  files.push(file)
  return true
}
