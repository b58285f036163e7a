/** Walks a directory tree inside a session's directories, without following links and without ignored files. */
import {
  refuseFile,
  type OpenDirectory,
  type ResolvedPlace,
  withResolvedPath,
  openSubdirectory,
  placeIn,
  type Root,
  routeTo,
  pathFromFirstRoot,
  childPath,
  unlessAbsent,
} from './resolve-in-roots.ts'
import type { Signal } from '../ports/values/signal.ts'
import { bytesAt, readBytes } from './files.ts'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import ignore, { type Ignore } from 'ignore'

interface WalkOptions {
  readonly roots: readonly Root[]
  /** Levels. */
  readonly depth: number
  /** Also what is ignored. */
  readonly ignored: boolean
  readonly signal: Signal
  /** Whether a real path is skipped, with everything below it. */
  readonly passes: (real: string) => boolean
}

/** Something on the way, while its directory is held. */
export interface TreeEntry extends DirectoryEntry {
  readonly held: OpenDirectory
  /** From where the stroll began, with slashes. */
  readonly way: string
  /** 0 for what is in the directory where it began. */
  readonly depth: number
}

/** Names in a directory that are not UTF-8. */
interface UnreadableNames {
  readonly kind: 'unnameable'
  readonly count: number
}

/**
 * Entries in the order of their names, each directory directly before its content. Throws FILE_MISSING and
 * PATH_OUTSIDE_ROOTS.
 */
export async function walkTree(
  path: string,
  strolling: WalkOptions,
  meet: (met: TreeEntry | UnreadableNames) => Promise<'on' | 'enough'>,
): Promise<void> {
  const { roots } = strolling
  await withResolvedPath(path, { roots }, async (place) => {
    const shown = pathFromFirstRoot(place.real, roots)
    if (place.found === undefined) refuseFile(`There is no directory ${shown}.`)
    if (!place.found.isDirectory()) refuseFile(`${shown} is not a directory. Use read_file.`)
    const { ignoring, base } = await ignoringFor(place, strolling)
    const held = place.name === '' ? place.held : await openSubdirectory(place.held, place.name, roots)
    if (held === undefined) return refuseFile(`${shown} cannot be opened.`)
    try {
      await walkDirectory({ held, way: '', depth: 0 }, { ...strolling, base, meet }, ignoring)
    } finally {
      await held.handle.close()
    }
  })
}

interface WalkPosition {
  readonly held: OpenDirectory
  readonly way: string
  readonly depth: number
}

interface Visit extends WalkOptions {
  /** Where the stroll began, from its root on. */
  readonly base: string
  readonly meet: (met: TreeEntry | UnreadableNames) => Promise<'on' | 'enough'>
}

async function walkDirectory(here: WalkPosition, visiting: Visit, above: IgnoreRules): Promise<'on' | 'enough'> {
  const { held, way, depth } = here
  // Below the one that was asked for, what cannot be listed is passed.
  const names = here.depth === 0 ? await namesIn(held) : await namesIn(held).catch(unlessAbsent)
  if (names === undefined) return 'on'
  const { entries, unnameable } = names
  const base = joinedPath(visiting.base, way)
  const rules = visiting.ignored ? [] : await ignoreRulesIn(held, entries, visiting.roots)
  const ignoring = above.below(base, rules)
  if (unnameable > 0) await visiting.meet({ kind: 'unnameable', count: unnameable })
  for (const entry of entries) {
    if (visiting.signal.aborted) return 'enough'
    if (ignoring.ignores(joinedPath(base, entry.name), entry.kind === 'directory')) continue
    if (visiting.passes(joinedPath(held.real, entry.name))) continue
    const met = { ...entry, held, way: joinedPath(way, entry.name), depth }
    if ((await visiting.meet(met)) === 'enough') return 'enough'
    if ((await descend(met, visiting, ignoring)) === 'enough') return 'enough'
  }
  return 'on'
}

async function descend({ held, name, way, depth, kind }: TreeEntry, visiting: Visit, ignoring: IgnoreRules) {
  if (kind !== 'directory' || depth + 1 >= visiting.depth) return 'on'
  const below = await openSubdirectory(held, name, visiting.roots)
  // It has gone, has become something else, or may not be read.
  if (below === undefined) return 'on'
  try {
    return await walkDirectory({ held: below, way, depth: depth + 1 }, visiting, ignoring)
  } finally {
    await below.handle.close()
  }
}

/** The rules of the directories above hold, except for what was asked for by its name. */
async function ignoringFor(
  { real }: ResolvedPlace,
  { roots, ignored }: WalkOptions,
): Promise<{ readonly ignoring: IgnoreRules; readonly base: string }> {
  const { root, names } = routeTo(real, roots)
  const base = names.join('/')
  if (ignored) return { ignoring: NOTHING_IGNORED, base }
  let ignoring = defaultIgnoreRules()
  for (const index of names.keys()) {
    const above = names.slice(0, index).join('/')
    const texts = await Promise.all(
      IGNORE_FILES.map((name) => ignoreFileText(joinedPath(joinedPath(root.real, above), name), roots)),
    )
    ignoring = ignoring.below(above, texts.flat())
    if (ignoring.ignores(names.slice(0, index + 1).join('/'), true)) return { ignoring: NOTHING_IGNORED, base }
  }
  return { ignoring, base }
}

async function ignoreFileText(path: string, roots: readonly Root[]): Promise<readonly string[]> {
  // Most directories have none, and one that cannot be read says nothing.
  const read = await readBytes(path, roots, MAX_IGNORE_FILE_BYTES).catch(() => undefined)
  return read === undefined ? [] : [read.bytes.toString('utf8')]
}

/** The texts of the ignore files in a directory that is held. One that cannot be read says nothing. */
export async function ignoreRulesIn(
  held: OpenDirectory,
  entries: readonly DirectoryEntry[],
  roots: readonly Root[],
): Promise<readonly string[]> {
  const names = IGNORE_FILES.filter((name) => entries.some((entry) => entry.name === name && entry.kind === 'file'))
  const texts = names.map(async (name) => {
    const place = await placeIn(held, name)
    const bytes = await bytesAt(place, { roots, limit: MAX_IGNORE_FILE_BYTES }).catch(() => undefined)
    return bytes === undefined ? [] : [bytes.toString('utf8')]
  })
  return (await Promise.all(texts)).flat()
}

function joinedPath(base: string, name: string): string {
  if (base === '') return name
  return name === '' ? base : `${base}/${name}`
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link' | 'other'
}

interface DirectoryNames {
  /** In the order of their names. */
  readonly entries: readonly DirectoryEntry[]
  /** How many names are not UTF-8, and cannot be given as a path. */
  readonly unnameable: number
}

export async function namesIn(held: OpenDirectory): Promise<DirectoryNames> {
  const found = await readdir(childPath(held, ''), { withFileTypes: true, encoding: 'buffer' })
  const named = found.flatMap((entry) => {
    const name = entry.name.toString('utf8')
    return Buffer.from(name, 'utf8').equals(entry.name) ? [{ name, kind: entryKind(entry) }] : []
  })
  return { entries: named.toSorted(byName), unnameable: found.length - named.length }
}

/** A name that holds what would break a list into lines is quoted. */
export function quotedName(name: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name
}

function entryKind(entry: Dirent<Buffer>): DirectoryEntry['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

function byName({ name: one }: DirectoryEntry, { name: other }: DirectoryEntry): number {
  return one < other ? -1 : Number(one > other)
}

const IGNORE_FILES = ['.gitignore', '.ignore']

export interface IgnoreRules {
  /** Of a way from the root on, with slashes. */
  ignores(way: string, isDirectory: boolean): boolean
  /** With the rules that stand in the directory at `base`. */
  below(base: string, rules: readonly string[]): IgnoreRules
}

interface DirectoryRules {
  readonly base: string
  readonly matcher: Ignore
}

/** Where nothing says otherwise. */
const ALWAYS_IGNORED = ['.git', '.hg', '.svn', '.jj', 'node_modules', '__pycache__', '.venv', '.DS_Store']

export function defaultIgnoreRules(): IgnoreRules {
  return combined([{ base: '', matcher: ignore().add(ALWAYS_IGNORED) }])
}

const NOTHING_IGNORED: IgnoreRules = { ignores: () => false, below: () => NOTHING_IGNORED }

function combined(all: readonly DirectoryRules[]): IgnoreRules {
  return {
    ignores(way, isDirectory) {
      return all.reduce((isIgnored, { base, matcher }) => {
        const rest = base === '' ? way : way.slice(base.length + 1)
        const said = matcher.test(isDirectory ? `${rest}/` : rest)
        return said.ignored || (isIgnored && !said.unignored)
      }, false)
    },
    below(base, rules) {
      const own = rules.map((text) => ({ base, matcher: ignore().add(usableRules(text)) }))
      return own.length === 0 ? this : combined([...all, ...own])
    },
  }
}

/** Lines with a pattern. Real files have at most a few hundred. */
const MAX_LINES = 1_000

const MAX_LINE_CHARS = 1_000

/** `**` with names on both sides; each may stand for any number of directories. */
const MAX_JUMPS = 2

/** A longer ignore file is not used. */
const MAX_IGNORE_FILE_BYTES = 256 * 1024

/** `text` without lines that take too long to match, and without lines after the first thousand. */
export function usableRules(text: string): string {
  const lines = text.split(/\r?\n/u).filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return lines
    .slice(0, MAX_LINES)
    .filter((line) => line.length <= MAX_LINE_CHARS && jumpsIn(line) <= MAX_JUMPS)
    .join('\n')
}

function jumpsIn(line: string): number {
  const parts = line.replace(/\/+$/u, '').split('/')
  return parts.slice(0, -1).filter((part) => /^\\?\*{2,}$/u.test(part)).length
}
