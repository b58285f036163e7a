/** The argument of `parley mcp login` and `logout`: a server of the configuration by its name, or any server by its URL. */
import { readMcpFiles } from '../../../config/mcp/server-files.ts'
import type { Config } from '../../../config/settings.ts'
import { type LoginPlace, loginPlaceOf } from '../../../server/compose/configured-mcp-servers.ts'
import { unknownServer } from './words.ts'

/** With an `unknown` sentence for the user where there is no such server. */
export function loginTarget(config: Config, word: string): LoginPlace | { readonly unknown: string } {
  if (/^https?:\/\//u.test(word) && URL.canParse(word))
    return { server: { type: 'http', name: word, url: word, headers: [] } }
  const { servers } = readMcpFiles(config, process.cwd())
  const found = servers.find(({ entry, standing }) => entry.name === word && standing !== 'overruled')
  if (found?.entry.place === undefined) return { unknown: unknownServer(word, servers) }
  return loginPlaceOf(config, found, found.entry.place)
}
