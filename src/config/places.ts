/** Where configuration and state are, on every platform. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { fail } from '../errors/parley-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The user's own file. */
export function userFile(environment: Environment): string {
  return join(configDirectory(environment), 'parley.toml')
}

/** Where the user's own prompts are, a file each. */
export function promptDirectory(environment: Environment): string {
  return join(configDirectory(environment), 'prompts')
}

/** The settings file of a project, in its directory. Its author need not be the user. */
export const PROJECT_FILE = '.parley.toml'

export function projectFile(cwd: string): string {
  return join(cwd, PROJECT_FILE)
}

/** The current directory. Throws DIRECTORY_LEFT when it was removed. */
export function workingDirectory(): string {
  try {
    return process.cwd()
  } catch (error) {
    return fail('DIRECTORY_LEFT', {}, error)
  }
}

/** XDG on Linux and wherever it is set; the platform's own place elsewhere. */
export function stateDirectory(environment: Environment): string {
  const xdg = absoluteIn(environment, 'XDG_STATE_HOME')
  if (xdg !== undefined) return join(xdg, 'parley')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'parley')
  if (process.platform === 'win32') return join(environment['LOCALAPPDATA'] ?? homedir(), 'parley')
  return join(homedir(), '.local', 'state', 'parley')
}

function configDirectory(environment: Environment): string {
  const xdg = absoluteIn(environment, 'XDG_CONFIG_HOME')
  if (xdg !== undefined) return join(xdg, 'parley')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'parley')
  if (process.platform === 'win32') return join(environment['APPDATA'] ?? homedir(), 'parley')
  return join(homedir(), '.config', 'parley')
}

/** The XDG specification has relative paths ignored: they would mean another place in each directory. */
function absoluteIn(environment: Environment, name: string): string | undefined {
  const path = environment[name]
  return path !== undefined && isAbsolute(path) ? path : undefined
}

/** Directories that the environment names and that do not count, one sentence each. */
export function ignoredPlaces(environment: Environment): readonly string[] {
  return ['XDG_STATE_HOME', 'XDG_CONFIG_HOME'].flatMap((name) => {
    const path = environment[name]
    if (!path || isAbsolute(path)) return []
    return [`${name} is ignored, because ${path} is not an absolute path.`]
  })
}
