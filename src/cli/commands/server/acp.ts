/**
 * `parley acp`, which an editor starts. With `--embedded`, owner and agent are in this process. Otherwise it is a relay
 * to the server of this machine, or to a remote server.
 */
import { fail } from '../../../errors/parley-error.ts'
import { EMBEDDED_REMEDY, dieAtOnce } from '../../connect/exit-on-journal-loss.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { textOption, textsOption } from '../../runtime/options.ts'
import { noteCommand, runningCommand } from '../../runtime/running-command.ts'
import { stopSignals } from '../../runtime/stop-signals.ts'

const LOGIN_THERE = 'A login belongs to a terminal on that machine: ssh -t HOST parley agents login NAME.'

export async function run({ options }: CommandInput): Promise<number> {
  const login = textOption(options, 'login')
  if (login !== undefined) {
    noteCommand({ ...runningCommand(), name: 'acp --login', isRemote: false, instead: LOGIN_THERE })
    return logIn(login)
  }
  const agent = textOption(options, 'agent')
  const flags = { maps: textsOption(options, 'map'), lends: options['lend'] === true }
  if (options['embedded'] === true) {
    requireNoServer()
    await embed(agent)
  } else await relayFor(agent, flags)
  return OK
}

function requireNoServer(): void {
  const reason = 'it uses no server, and --server names one: leave out one of the two'
  if (runningCommand().server !== undefined) fail('CONFIG_INVALID', { key: '--embedded', value: 'set', reason })
}

/** `parley acp --login`: a client runs this in a terminal for a login that the response to `initialize` offered. */
async function logIn(login: string): Promise<number> {
  const [name = '', ...method] = login.split('/')
  const args = method.length === 0 ? [name] : [name, method.join('/')]
  return (await import('../agents/login.ts')).run({ args, options: {} })
}

async function relayFor(
  agent: string | undefined,
  flags: { readonly maps: readonly string[]; readonly lends: boolean },
) {
  const { loadConfig } = await import('../../../config/load.ts')
  const config = await loadConfig({ agent, server: runningCommand().server })
  if (config.server !== undefined) {
    const { relayToRemote } = await import('../../remote/relay-remote.ts')
    await relayToRemote(config, flags)
    // An attempt to reach the server may still run; no client is left for it.
    process.exit(OK)
  }
  const [unused] = [...(flags.maps.length > 0 ? ['--map'] : []), ...(flags.lends ? ['--lend'] : [])]
  const reason = 'it is for a remote server, which --server names'
  if (unused !== undefined) return fail('CONFIG_INVALID', { key: unused, value: 'set', reason })
  await (await import('../../relay.ts')).relayStdio(agent)
}

async function embed(agent: string | undefined): Promise<void> {
  const { loadConfig } = await import('../../../config/load.ts')
  const { openOwnJournal } = await import('../../../server/compose/open-state.ts')
  const config = { ...(await loadConfig({ agent })), maxStallSeconds: 0 }
  const own = openOwnJournal(config)
  const { serveStdio } = await import('../../../server/daemon/embedded.ts')
  keepStdoutClean()
  endOnSignals()
  await serveStdio(config, (why) => dieAtOnce(why, EMBEDDED_REMEDY), own)
}

/** A signal works as a closed stdin: running turns are stored as interrupted, and no child process is left. */
function endOnSignals(): void {
  for (const signal of stopSignals()) process.once(signal, () => process.stdin.destroy())
}

/** Keeps stdout for the protocol, even if a library prints. */
function keepStdoutClean(): void {
  console.log = console.error
  console.info = console.error
  console.debug = console.error
}
