/** For commands that must work whatever a settings file says: what is wrong with it is told, and they go on. */
import { loadDespite } from '../config/despite.ts'
import type { Config } from '../config/schema.ts'

export async function configDespite(): Promise<Config> {
  const { config, fault } = await loadDespite()
  if (fault !== undefined) process.stderr.write(`parley: ${fault.replace(/\p{Cc}/gu, ' ')}\n`)
  return config
}
