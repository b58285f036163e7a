/** The configuration for `parley doctor`: as much as can be loaded, and everything that is wrong. */
import { catalogue } from '../errors/catalogue.ts'
import { loadLenient } from './load.ts'
import { readMcpFiles } from './mcp/server-files.ts'
import { projectFile, userFile, workingDirectory } from './places.ts'
import type { Config } from './settings.ts'

export interface Diagnosis {
  /** As the settings say; without them where they cannot be read. */
  readonly config: Config
  /** Where settings are looked for. */
  readonly files: readonly string[]
  /** One sentence each, without secrets. */
  readonly faults: readonly string[]
  readonly mcp: readonly { readonly name: string; readonly standing: string }[]
}

/** Never throws because of a setting. */
export async function diagnoseConfig(environment = process.env, cwd = workingDirectory()): Promise<Diagnosis> {
  const files = [userFile(environment), projectFile(cwd)]
  const { config, fault } = await loadLenient(environment, cwd)
  const found = readMcpFiles({ home: config.home, environment }, cwd)
  // The settings already report a file that cannot be read at all.
  const reported = [...(fault === undefined ? [] : [fault]), ...config.warnings]
  const mcpFaults = found.faults
    .filter(({ value }) => fault === undefined || value !== 'read')
    .filter(({ key, reason }) => !reported.some((one) => one.includes(key) && one.includes(reason)))
    .map(({ file, ...fault }) => `${file}: ${catalogue.CONFIG_INVALID.sentence(fault)}`)
  const mcp = found.servers.map(({ entry, standing }) => ({ name: entry.name, standing }))
  const faults = [...reported, ...mcpFaults]
  return { config, files, faults, mcp }
}
