/** The configuration for whoever must work whatever a file says: as far as it can be had, and what is wrong with the rest. */
import { isAbsolute, resolve } from 'node:path'
import { reasonOf } from '../errors/parley-error.ts'
import { loadConfig } from './load.ts'
import { stateDirectory, workingDirectory } from './places.ts'
import type { Config } from './schema.ts'

export interface Despite {
  /** Without the settings where they cannot be read; where the state is no file says. */
  readonly config: Config
  /** One sentence, without secrets. */
  readonly fault?: string
}

/** Never throws because of a setting. */
export async function loadDespite(environment = process.env, cwd = workingDirectory()): Promise<Despite> {
  try {
    return { config: await loadConfig({}, environment, cwd) }
  } catch (error) {
    const home = resolve(cwd, environment['PARLEY_HOME'] || stateDirectory(environment))
    const config = await loadConfig({}, { PARLEY_HOME: home, XDG_CONFIG_HOME: '/dev/null' }, '/dev/null')
    return { config: { ...config, environment }, fault: reasonOf(error) }
  }
}

/** Directories that the environment names and that do not count, one sentence each. */
export function ignoredPlaces(environment: NodeJS.ProcessEnv): readonly string[] {
  return ['XDG_STATE_HOME', 'XDG_CONFIG_HOME'].flatMap((name) => {
    const path = environment[name]
    if (!path || isAbsolute(path)) return []
    return [`${name} is ignored, because ${path} is not an absolute path.`]
  })
}
