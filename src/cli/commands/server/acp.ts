/**
 * `parley acp`, which an editor starts. With `--embedded`, owner and agent are in this process; without, it is a relay to
 * the server.
 */
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { EMBEDDED_REMEDY, dieAtOnce } from '../../connect/exit-on-journal-loss.ts'
import { textOption } from '../../runtime/options.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const agent = textOption(options, 'agent')
  if (options['embedded'] === true) await embed(agent)
  else await (await import('../../relay.ts')).relayStdio(agent)
  return OK
}

async function embed(agent: string | undefined): Promise<void> {
  const { loadConfig } = await import('../../../config/load.ts')
  const { serveStdio } = await import('../../../server/daemon/embedded.ts')
  keepStdoutClean()
  endOnSignals()
  await serveStdio(await loadConfig({ agent }), (why) => dieAtOnce(why, EMBEDDED_REMEDY))
}

/** A signal works as a closed stdin: running turns are stored as interrupted, and no child process is left. */
function endOnSignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.stdin.destroy())
}

/** Keeps stdout for the protocol, even if a library prints. */
function keepStdoutClean(): void {
  console.log = console.error
  console.info = console.error
  console.debug = console.error
}
