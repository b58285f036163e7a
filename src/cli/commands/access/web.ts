/** `parley web`: the page of a server in the user's browser. Starts the server of this machine and opens a loopback port if need be. */
import type { Config } from '../../../config/settings.ts'
import { fail, isParleyError } from '../../../errors/parley-error.ts'
import { askToListen } from '../../../server/admin/admin-client.ts'
import type { ListenAnswer } from '../../../server/admin/admin-methods.ts'
import { startServer } from '../../../server/launch/launch.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { progressLine } from '../../output/progress-line.ts'
import { isTerminal } from '../../output/terminal-io.ts'
import { openBrowser } from '../../runtime/browser.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { isSsh, serverOf } from '../../remote/known-servers.ts'
import { complain } from '../../say.ts'
import { type Invitation, addressIn, invite, isLocal, linkFor, printObject } from './invitation.ts'

/** The same each time, since a browser's cookie belongs to one port. */
const USUAL_PORT = '7777'
const ANY_PORT = '0'

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor()
  if (config.server !== undefined) return await elsewhere(config, options)
  if (options['close'] === true) return await closePorts(config, options['json'] === true)
  await start(config)
  const address = localAddressIn(await openedPort(config))
  return await showPage({ config, address, directory: process.cwd() }, options)
}

/** The page of a remote server; who may let a browser in there is an administrator. */
async function elsewhere(config: Config, options: CommandInput['options']): Promise<number> {
  const reason = 'the ports of a remote server are closed on its own machine: parley web --close'
  if (options['close'] === true) return fail('CONFIG_INVALID', { key: '--close', value: 'set', reason })
  const { url } = serverOf(config)
  const tunnel = `only SSH leads there: ssh -L 7777:127.0.0.1:7777 ${isSsh(url) ? new URL(url).hostname : ''}, and there parley web`
  if (isSsh(url)) return fail('CONFIG_INVALID', { key: '--server', value: JSON.stringify(url), reason: tunnel })
  return await showPage({ config, address: url }, options)
}

/** For a browser of the user, who may do everything already. */
async function showPage(page: Omit<Invitation, 'grant'>, options: CommandInput['options']): Promise<number> {
  const { config, address } = page
  const invitation: Invitation = { config, address, grant: { role: 'admin' } }
  if (options['json'] === true) {
    await printObject(invitation)
    return OK
  }
  process.stdout.write(`Parley's page: ${address}\n`)
  if (options['open'] !== false && isTerminal(process.stdout, config)) await show({ ...page, ...invitation })
  return await invite(invitation)
}

async function start({ home, socket, environment }: Config): Promise<void> {
  const progress = progressLine(process.stderr)
  try {
    await startServer({ home, socket, environment, program: process.argv[1] ?? '' }, (text) => progress.say(text))
  } finally {
    progress.done()
  }
}

/** A server that listens somewhere already is left as it is. */
async function openedPort(config: Config): Promise<ListenAnswer> {
  const now = await askToListen(config, {})
  if (now.listening.length > 0) return now
  try {
    return await askToListen(config, { open: [USUAL_PORT] })
  } catch (error) {
    if (!isParleyError(error, 'PEER_REFUSED')) throw error
    // Another program has it, perhaps the server of another state directory.
    complain(`${error.message} Another port is used, so a browser that was paired before must be paired again.`)
    return await askToListen(config, { open: [ANY_PORT] })
  }
}

/** The browser is on this machine. */
function localAddressIn(answer: ListenAnswer): string {
  return answer.listening.find(({ url }) => isLocal(url))?.url ?? addressIn(answer)
}

/** Opens the browser with another link, because the printed one is for another device or browser. The page offers this directory for a new session. */
async function show(invitation: Invitation): Promise<void> {
  const { link } = await linkFor(invitation)
  const isOpen = await openBrowser(link, invitation.config.environment)
  process.stdout.write(isOpen ? 'It opens in your browser. For another device:\n' : '')
}

async function closePorts(config: Config, isJson: boolean): Promise<number> {
  const close = (await portsOf(config)).listening.map(({ address }) => address)
  if (close.length > 0) await askToListen(config, { close })
  if (isJson) printJson({ closed: close })
  else process.stdout.write(close.length === 0 ? 'No port is open.\n' : `Closed: ${close.join(', ')}\n`)
  return OK
}

async function portsOf(config: Config): Promise<ListenAnswer> {
  try {
    return await askToListen(config, {})
  } catch (error) {
    if (isParleyError(error, 'SERVER_ABSENT')) return { listening: [] }
    throw error
  }
}
