/** The entry of `parley acp`: what an editor starts and waits for, so it loads nothing that it does not need at once. */
import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { agentName } from '../config/agent-choice.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { requirePrivate } from '../config/socket.ts'
import { reasonOf } from '../errors/parley-error.ts'
import { dial } from '../relay/dial.ts'
import { relay } from '../relay/relay.ts'
import { serverInfo } from '../server/version.ts'
import { OK, exitOfError } from './runtime/exit-codes.ts'
import { complain } from './say.ts'

/** For `acp` with no other option than `--agent`. Undefined for what only the whole command line understands. */
export async function main(argv: readonly string[]): Promise<number | undefined> {
  const agent = agentIn(argv)
  if (agent === null) return undefined
  // An editor that has closed our stderr misses a sentence and nothing else.
  process.stderr.on('error', () => undefined)
  try {
    await relayStdio(agent)
    // Whatever still tries to start a server has nobody left to do it for.
    process.exit(OK)
  } catch (error) {
    say(reasonOf(error))
    return exitOfError(error)
  }
}

/** Undefined when none is named, null when there is more to understand. */
function agentIn(argv: readonly string[]): string | undefined | null {
  const [, first, second, ...more] = argv
  if (first === undefined) return undefined
  if (first === '--agent' && second !== undefined && more.length === 0) return second
  return first.startsWith('--agent=') && second === undefined ? first.slice('--agent='.length) : null
}

/** Passes on what the editor says until it closes stdin. Rejects with CONFIG_INVALID. */
export async function relayStdio(agent: string | undefined): Promise<void> {
  const config = await loadConfig({ agent })
  await relay({
    input: process.stdin,
    output: unblockedStdout(),
    introduction: {
      version: serverInfo.version,
      agent: agentName(config.agent),
      agentChosen: config.agentChosen,
      token: config.token,
      lent: config.providerVariables,
    },
    dial: () => dialPrivately(config),
    start: () => start(config),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    newId: () => crypto.randomUUID(),
    say,
  })
}

async function dialPrivately({ socket }: Config): Promise<Socket> {
  requirePrivate(socket, { make: false })
  return dial(socket)
}

async function start({ home, socket, environment }: Config): Promise<void> {
  const { startServer } = await import('../server/launch/launch.ts')
  // That it takes its time is no news for an editor, which shows every word on stderr as an error of the agent.
  await startServer({ home, socket, environment, program: process.argv[1] ?? '' })
}

/** Node writes to pipes synchronously on stdout; an editor that does not read would stop us from hearing it. */
function unblockedStdout(): NodeJS.WritableStream {
  const stdout = fstatSync(1)
  return stdout.isFIFO() || stdout.isSocket() ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout
}

/** What failed, for people; stdout carries nothing but protocol. */
function say(sentence: string): void {
  complain(sentence)
}
