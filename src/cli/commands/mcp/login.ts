/** `parley mcp login SERVER`: the user logs in to an MCP server in a browser. */
import { configFor } from '../../configured.ts'
import type { Config } from '../../../config/settings.ts'
import { logIn } from '../../../server/admin/mcp-login.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { openBrowser } from '../../runtime/browser.ts'
import { printJson } from '../../output/json.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { loginTarget } from './login-target.ts'

/** With `--json`: one line with the page, one when it is done. */
export async function run({ args: [word = ''], options }: CommandInput): Promise<number> {
  const config = await configFor()
  const place = loginTarget(config, word)
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
  else process.stdout.write(`Logged in to ${oneLine(word, 200)}. Sessions that wait for it continue by themselves.\n`)
  return OK
}

/** The address alone on its line, so that it can be taken with one click or in one piece. */
async function invite(config: Config, url: string): Promise<void> {
  const opened = process.stdout.isTTY && (await openBrowser(url, config.environment))
  const lead = opened ? 'Your browser opens this page; log in there:' : 'Open this page in a browser on this machine:'
  process.stdout.write(`${lead}\n\n${url}\n\n`)
  process.stderr.write('Waiting for you to finish there. Ctrl-C stops.\n')
}
