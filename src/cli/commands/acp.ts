/** `parley acp`: what an editor starts. Until there is a server of its own, owner and agent run in this process. */
import { loadConfig } from '../../config/load.ts'
import { serveStdio } from '../../server/embedded.ts'
import type { CommandInput } from '../command.ts'
import { textOption } from '../options.ts'

export async function run({ options }: CommandInput): Promise<number> {
  keepStdoutClean()
  endOnSignals()
  await serveStdio(await loadConfig({ agent: textOption(options, 'agent') }))
  return 0
}

/** A polite end is that of a closed stdin: what runs is interrupted and stored as such, and nobody is left behind. */
function endOnSignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.stdin.destroy())
}

/** stdout carries nothing but protocol, whatever a library prints. */
function keepStdoutClean(): void {
  console.log = console.error
  console.info = console.error
  console.debug = console.error
}
