/** The configuration for whoever must work whatever a file says: as far as it can be had, and what is wrong with the rest. */
import { reasonOf } from '../errors/parley-error.ts'
import { homeOf, loadConfig } from './load.ts'
import { workingDirectory } from './places.ts'
import type { Config } from './schema.ts'

export interface Despite {
  /** Without the settings where they cannot be read; where the state is no file says. */
  readonly config: Config
  /** One sentence, without secrets. */
  readonly fault?: string
}

/** Throws CONFIG_INVALID and STATE_NOT_PRIVATE for a state directory that cannot be used, and because of no other setting. */
export async function loadDespite(environment = process.env, cwd = workingDirectory()): Promise<Despite> {
  try {
    return { config: await loadConfig({}, environment, cwd) }
  } catch (error) {
    // Nothing can be told of a state directory that is not known.
    const home = homeOf(environment, cwd)
    const config = await loadConfig({}, { PARLEY_HOME: home, XDG_CONFIG_HOME: '/dev/null' }, '/dev/null')
    return { config: { ...config, environment }, fault: reasonOf(error) }
  }
}
