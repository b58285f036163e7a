/** `parley mcp ls`: every configured server, the file that configures it, and its state in each live session. */
import { configFor } from '../../configured.ts'
import type { Config } from '../../../config/settings.ts'
import { isParleyError, reasonOf } from '../../../errors/parley-error.ts'
import { askServers } from '../../../server/admin/admin-client.ts'
import { type McpRow, listMcp } from '../../../server/admin/mcp-configuration.ts'
import type { LiveMcp } from '../../../server/admin/mcp-servers.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { askRemote } from '../../remote/ask-remote.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { shortId } from '../../sessions/session-resolution.ts'
import { paintOn } from '../../output/terminal-io.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor()
  const cwd = process.cwd()
  const rows =
    config.server === undefined
      ? listMcp(config, cwd, await live(config))
      : (
          await askRemote<{ readonly servers: readonly McpRow[] }>(config, {
            method: '_parley/mcp/list',
            params: { cwd },
          })
        ).servers
  if (options['json'] === true) rows.forEach(printJson)
  else print(rows, paintOn(process.stdout, config))
  return OK
}

/** Without a server there are no live sessions. Any other failure to ask the server is printed. */
async function live(config: Config): Promise<LiveMcp> {
  try {
    return await askServers(config)
  } catch (error) {
    if (!isParleyError(error, 'SERVER_ABSENT')) complain(reasonOf(error))
    return { sessions: [] }
  }
}

function print(rows: readonly McpRow[], paint: Paint): void {
  if (rows.length === 0) process.stderr.write('No MCP servers yet. Add one with: parley mcp add NAME -- COMMAND\n')
  for (const { name, standing, place, file, sessions } of rows) {
    const source = file ?? 'named by a client or built in'
    const what = place ?? (file === undefined ? '' : 'rules for servers that clients name so')
    process.stdout.write(
      `${paint('bold', oneLine(name, 60))}  ${standingWords(standing, paint)}${oneLine(what, 200)}\n`,
    )
    process.stdout.write(`  ${paint('dim', oneLine(source, 200))}\n`)
    if (standing === 'waiting') process.stdout.write(`  ${oneLine(`Trust it with: parley mcp trust ${name}`, 200)}\n`)
    for (const one of sessions) process.stdout.write(`  ${sessionWords(one, paint)}\n`)
  }
}

function standingWords(standing: McpRow['standing'], paint: Paint): string {
  switch (standing) {
    case 'waiting':
      return `${paint('asking', 'not trusted yet')}  `
    case 'disabled':
      return `${paint('dim', 'disabled')}  `
    case 'overruled':
      return `${paint('dim', 'overruled by this project')}  `
    case 'active':
    case undefined:
      return ''
  }
}

function sessionWords(
  { sessionId, state, reason, era, protocol, tools, latencyMs }: McpRow['sessions'][number],
  paint: Paint,
): string {
  const speaks = protocol === undefined ? [] : [`MCP ${protocol}, ${era ?? ''}`]
  const has = state === 'ready' ? [`${tools} tools`] : []
  const took = latencyMs === undefined ? [] : [`listed in ${Math.round(latencyMs)} ms`]
  const why = reason === undefined ? [] : [oneLine(reason, 300)]
  return `${paint('code', shortId(sessionId))} ${[state, ...speaks, ...has, ...took, ...why].join(', ')}`
}
