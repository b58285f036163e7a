/** The settings of a command, where the user hears on standard error what of them was left out. */
import { loadDespite } from '../config/load-lenient.ts'
import { type Flags, loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { complain } from './say.ts'

/** Throws CONFIG_INVALID and CONFIG_UNREADABLE. */
export async function configFor(flags: Flags = {}): Promise<Config> {
  const config = await loadConfig(flags)
  warn(config.warnings)
  return config
}

/** For commands that must work whatever the user's file says: what is wrong with it is told, and they go on. */
export async function configDespite(): Promise<Config> {
  const { config, fault } = await loadDespite()
  warn([...(fault === undefined ? [] : [fault]), ...config.warnings])
  return config
}

/** A sentence may quote a file that others wrote: nothing in it may steer the terminal. */
function warn(sentences: readonly string[]): void {
  for (const sentence of sentences) complain(sentence)
}
