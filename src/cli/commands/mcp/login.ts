/** `parley mcp login` and `logout`: lets Parley in at a server that wants somebody to log in. */
import { configFor } from '../../configured.ts'
import { readMcpFiles } from '../../../config/mcp/server-files.ts'
import type { Config } from '../../../config/schema.ts'
import { type LoginPlace, loginPlaceOf } from '../../../server/compose/configured-mcp-servers.ts'
import { logIn, logOut } from '../../../server/admin/login.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { openBrowser } from '../../runtime/browser.ts'
import { printJson } from '../../output/json.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { complain } from '../../say.ts'
import { unknownServer } from './words.ts'

/** With `--json`: one line with the page, one when it is done. */
export async function login([word = '']: readonly string[], options: CommandInput['options']): Promise<number> {
  const config = await configFor()
  const place = placeOf(config, word)
  if (place === undefined) return unknown(config, word)
  const stops = watchStops()
  const { signal } = stops
  const { url, done } = await logIn(config, place, signal)
  const isJson = options['json'] === true
  if (isJson) printJson({ url })
  else await invite(config, url)
  try {
    await done
  } catch (error) {
    if (signal.aborted) return signal.reason as number
    throw error
  } finally {
    stops.release()
  }
  if (isJson) printJson({ loggedIn: true })
  else process.stdout.write(`Logged in to ${oneLine(word, 200)}. Sessions that wait for it go on by themselves.\n`)
  return OK
}

/** The address alone on its line, so that it can be taken with one click or in one piece. */
async function invite(config: Config, url: string): Promise<void> {
  const opened = process.stdout.isTTY && (await openBrowser(url, config.environment))
  const lead = opened ? 'Your browser opens this page; log in there:' : 'Open this page in a browser on this machine:'
  process.stdout.write(`${lead}\n\n${url}\n\n`)
  process.stderr.write('Waiting for you to finish there. Ctrl-C stops.\n')
}

export async function logout([word = '']: readonly string[], options: CommandInput['options']): Promise<number> {
  const config = await configFor()
  const place = placeOf(config, word)
  if (place === undefined) return unknown(config, word)
  const was = await logOut(config, place)
  if (options['json'] === true) printJson({ loggedOut: was })
  else
    process.stdout.write(
      was ? `Logged out of ${oneLine(word, 200)}.\n` : `Nobody was logged in to ${oneLine(word, 200)}.\n`,
    )
  return OK
}

/** A server of the configuration by its name, or any by its address. */
function placeOf(config: Config, word: string): LoginPlace | undefined {
  if (/^https?:\/\//u.test(word) && URL.canParse(word))
    return { server: { type: 'http', name: word, url: word, headers: [] } }
  const { servers } = readMcpFiles(config, process.cwd())
  const found = servers.find(({ entry, standing }) => entry.name === word && standing !== 'overruled')
  return found?.entry.place === undefined ? undefined : loginPlaceOf(config, found, found.entry.place)
}

function unknown(config: Config, word: string): number {
  complain(unknownServer(word, readMcpFiles(config, process.cwd()).servers))
  return FAILED
}
