/** Loads the settings of a command, and reports on standard error what was left out. */
import { type Flags, loadConfig, loadLenient } from '../config/load.ts'
import type { Config } from '../config/settings.ts'
import { requireHere, runningCommand } from './runtime/running-command.ts'
import { complain } from './say.ts'

/** Throws CONFIG_INVALID, CONFIG_UNREADABLE and COMMAND_LOCAL. */
export async function configFor(flags: Flags = {}): Promise<Config> {
  const config = await loadConfig({ server: runningCommand().server, ...flags })
  requireHere(config.server)
  warn(config.warnings)
  return config
}

/** For commands that must work with an invalid settings file: its mistakes are printed, and the command continues. */
export async function lenientConfig(): Promise<Config> {
  const { config: found, fault } = await loadLenient()
  const config = { ...found, server: runningCommand().server ?? found.server }
  requireHere(config.server)
  warn([...(fault === undefined ? [] : [fault]), ...config.warnings])
  return config
}

/** A sentence may quote a project's file, so it is printed without control characters. */
function warn(sentences: readonly string[]): void {
  for (const sentence of sentences) complain(sentence)
}
