/** The entry of `parley acp`, which an editor starts and waits for: it loads only what it needs at once. */
import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { agentName } from '../config/agent-choice.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/settings.ts'
import { requirePrivate } from '../config/socket.ts'
import { reasonOf } from '../errors/parley-error.ts'
import { connectSocket } from '../relay/connector.ts'
import { relay } from '../relay/relay.ts'
import { OfferFile } from '../server/launch/offer-file.ts'
import { serverInfo } from '../server/server-info.ts'
import { OK, exitOfError } from './runtime/exit-codes.ts'
import { complain } from './say.ts'

/** For `acp` with no option but `--agent`. Undefined for arguments that need the whole command line. */
export async function main(argv: readonly string[]): Promise<number | undefined> {
  const agent = agentIn(argv)
  if (agent === null) return undefined
  // An editor that has closed our stderr misses a sentence and nothing else.
  process.stderr.on('error', () => undefined)
  try {
    // A remote server needs more than this file loads.
    if (!(await relayStdio(agent))) return undefined
    // An attempt to start a server may still run; no client is left for it.
    process.exit(OK)
  } catch (error) {
    complain(reasonOf(error))
    return exitOfError(error)
  }
}

/** Undefined when no agent is named, null when there are other arguments. */
function agentIn(argv: readonly string[]): string | undefined | null {
  const [, first, second, ...more] = argv
  if (first === undefined) return undefined
  if (first === '--agent' && second !== undefined && more.length === 0) return second
  return first.startsWith('--agent=') && second === undefined ? first.slice('--agent='.length) : null
}

/**
 * Relays between the editor and the server of this machine until the editor closes stdin. False where the settings name
 * another server. Rejects with CONFIG_INVALID.
 */
export async function relayStdio(agent: string | undefined): Promise<boolean> {
  const config = await loadConfig({ agent })
  if (config.server !== undefined) return false
  await relay({
    input: process.stdin,
    output: unblockedStdout(),
    handshake: {
      version: serverInfo.version,
      agent: agentName(config.agent),
      agentChosen: config.agentChosen,
      token: config.clientToken,
      lent: config.providerVariables,
    },
    server: {
      dial: () => dialPrivately(config),
      start: () => start(config),
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    },
    offers: new OfferFile(config),
    newId: crypto.randomUUID.bind(crypto),
    // For the user; stdout carries the protocol alone.
    say: complain,
  })
  return true
}

async function dialPrivately({ socket }: Config): Promise<Socket> {
  requirePrivate(socket, { make: false })
  return connectSocket(socket)
}

async function start({ home, socket, environment }: Config): Promise<void> {
  const { startServer } = await import('../server/launch/launch.ts')
  // Says nothing of a start that takes long: an editor shows everything on stderr as an error of the agent.
  await startServer({ home, socket, environment, program: process.argv[1] ?? '' })
}

/** Node writes to pipes synchronously on stdout; an editor that does not read would block the relay. */
export function unblockedStdout(): NodeJS.WritableStream {
  const stdout = fstatSync(1)
  return stdout.isFIFO() || stdout.isSocket() ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout
}
