/** The argument of `parley mcp login` and `logout`: a server of the configuration by its name, or any server by its URL. */
import { readMcpFiles } from '../../../config/mcp/server-files.ts'
import type { Config } from '../../../config/settings.ts'
import { type LoginPlace, loginPlaceOf } from '../../../server/compose/configured-mcp-servers.ts'
import { unknownMcp } from '../../../server/admin/mcp-configuration.ts'

/** Throws MCP_NOT_CONFIGURED and MCP_CONNECT. */
export function loginTarget(config: Config, word: string): LoginPlace {
  if (/^https?:\/\//u.test(word) && URL.canParse(word))
    return { server: { type: 'http', name: word, url: word, headers: [] } }
  const { servers } = readMcpFiles(config, process.cwd())
  const found = servers.find(({ entry, standing }) => entry.name === word && standing !== 'overruled')
  if (found?.entry.place === undefined) return unknownMcp(word, servers)
  return loginPlaceOf(config, found, found.entry.place)
}
