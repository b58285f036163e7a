/** Files that git executes or obeys, found by what a directory contains and what git configuration names. */
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { isWithin } from '../path-rules/path-rules.ts'
import { isParleyError } from '../errors/parley-error.ts'
import { readBytesIfThere } from './files.ts'
import { unlessAbsent } from './resolve-in-roots.ts'

/** Bytes of a configuration that is read; a longer one is taken to name every file. */
const LONGEST_CONFIG = 256 * 1024

/** Why git executes or obeys this file; undefined where it does not. The path is absolute and without links. */
export async function gitReasonFor(path: string): Promise<string | undefined> {
  for (const directory of directoriesAbove(path)) {
    if (await isGitDirectory(directory, path)) return `${directory} is a git directory`
    if (names(await configOf(directory), { path, directory })) return `the git configuration of ${directory} names it`
  }
  return undefined
}

/**
 * The paths that decide which programs git runs in this work tree: its whole git directory, and the hooks and the monitor
 * that its configuration names. Only existing ones, without links.
 */
export async function obeyedByGit(workTree: string): Promise<readonly string[]> {
  const pointer = join(workTree, '.git')
  const gitDirectory = await gitDirectoryOf(pointer)
  if (gitDirectory === undefined) return []
  const configs = await configsOfRepository(workTree)
  const named = configs.flatMap((text) => settingsOf(text ?? '').filter(({ key }) => RUNS_KEY.test(key)))
  const places = named.flatMap(({ key, value }) => placesOf(value.trim().replaceAll('"', ''), key, workTree))
  const found = await Promise.all([homeOf(gitDirectory), ...places].map(async (place) => realOf(await place)))
  const isFile = (await lstat(pointer).catch(unlessAbsent))?.isFile() === true
  return [gitDirectory, ...(isFile ? [pointer] : []), ...found.flat().filter((place) => !isWithin(workTree, place))]
}

/** Nothing where it is not there. */
async function realOf(place: string): Promise<readonly string[]> {
  const real = await realpath(place).catch(() => undefined)
  return real === undefined ? [] : [real]
}

/** The nearest first. */
function directoriesAbove(path: string): readonly string[] {
  const above = dirname(path)
  return above === path ? [] : [above, ...directoriesAbove(above)]
}

/**
 * Recognizes a git directory by the files that git itself looks for. A file that is about to be written counts as present,
 * because it may be the last missing part.
 */
async function isGitDirectory(directory: string, path: string): Promise<boolean> {
  const [written] = relative(directory, path).split(sep)
  const has = async (name: string) => name === written || isThere(join(directory, name))
  if (!(await has('HEAD'))) return false
  return (await has('commondir')) || ((await has('objects')) && (await has('refs')))
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessAbsent)) !== undefined
}

/** The git configuration in this directory: as a work tree, or as a home directory. */
async function configOf(directory: string): Promise<string> {
  const personal = ['.gitconfig', '.config/git/config'].map((name) => textAt(join(directory, name), directory))
  const all = [...(await Promise.all(personal)), ...(await configsOfRepository(directory))]
  return all.filter((text) => text !== undefined).join('\n')
}

async function configsOfRepository(directory: string): Promise<readonly (string | undefined)[]> {
  const gitDirectory = await gitDirectoryOf(join(directory, '.git'))
  if (gitDirectory === undefined) return []
  const home = await homeOf(gitDirectory)
  return Promise.all([textAt(join(home, 'config'), home), textAt(join(gitDirectory, 'config.worktree'), gitDirectory)])
}

/** The directory with its configuration and hooks: an added work tree uses those of the main repository. */
async function homeOf(gitDirectory: string): Promise<string> {
  const common = await textAt(join(gitDirectory, 'commondir'), gitDirectory)
  return common === undefined ? gitDirectory : resolve(gitDirectory, common.trim())
}

/** The directory itself, or the one that a file of this name leads to. */
async function gitDirectoryOf(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(unlessAbsent)
  if (found === undefined) return undefined
  if (!found.isFile()) return await realpath(path).catch(unlessAbsent)
  const leads = /^gitdir: (.+)$/mu.exec((await textAt(path, dirname(path))) ?? '')?.[1]
  return leads === undefined ? undefined : await realpath(resolve(dirname(path), leads.trim())).catch(unlessAbsent)
}

const UNREADABLE = 'any = **'

async function textAt(path: string, root: string): Promise<string | undefined> {
  try {
    const file = await readBytesIfThere(path, [{ given: root, real: root }], LONGEST_CONFIG)
    return file?.bytes.toString('utf8')
  } catch (error) {
    return isParleyError(error, 'FILE_REFUSED') ? UNREADABLE : unlessAbsent(error)
  }
}

interface Written {
  readonly path: string
  /** The work tree, or the home directory of a user. */
  readonly directory: string
}

/** Whether a value of the configuration names the file, or a directory that it is in: hooks, filters, an editor, a monitor. */
function names(config: string, { path, directory }: Written): boolean {
  if (config.includes(UNREADABLE)) return true
  const places = settingsOf(config).flatMap(({ key, value }) =>
    value.split(/[\s"';|&()]+/u).flatMap((word) => placesOf(word, key, directory)),
  )
  return places.some((place) => place !== directory && isWithin(path, place))
}

function settingsOf(config: string): readonly { readonly key: string; readonly value: string }[] {
  return config.split('\n').flatMap((line) => {
    const at = line.indexOf('=')
    return at < 0 || /^\s*[#;]/u.test(line) ? [] : [{ key: line.slice(0, at).trim(), value: line.slice(at + 1) }]
  })
}

/** Keys of what git runs at almost each of its commands. */
const RUNS_KEY = /^(?:hookspath|fsmonitor)$/iu

/** Keys whose value is a path also where it is a bare word; elsewhere that is a program of the PATH, a name or a number. */
const PATH_KEY = /(?:hookspath|templatedir|path)$/iu

/** Git takes paths from the work tree on, or from where its configuration stands. */
function placesOf(word: string, key: string, directory: string): readonly string[] {
  if (word === '' || (!word.includes('/') && !PATH_KEY.test(key))) return []
  if (word.startsWith('~/')) return [join(directory, word.slice(2))]
  return [resolve(directory, word), resolve(directory, '.git', word)]
}
