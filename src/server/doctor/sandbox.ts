/** Whether commands can run in a sandbox here, and whether they do. */
import type { Config } from '../../config/settings.ts'
import { inspectSandbox } from '../compose/inspect.ts'
import { type Finding, note, ok, problem } from './finding.ts'

const WHAT = 'sandbox'

export async function* checkSandbox(config: Config): AsyncGenerator<Finding> {
  const { commandSandbox: mode, commandNetwork } = config
  const { reason } = await inspectSandbox(config)
  const network = commandNetwork ? 'with the network' : 'without the network'
  if (reason === undefined && mode !== 'off') yield ok(WHAT, `commands run in bubblewrap, ${network}`)
  else if (reason === undefined)
    yield note(WHAT, 'this machine can make one; commands run without, because command_sandbox is off')
  else if (mode === 'on')
    yield problem(
      WHAT,
      `none can be made, so every command is refused: ${reason}`,
      'Install bubblewrap and allow it to make user namespaces, or set command_sandbox to auto.',
    )
  else yield note(WHAT, `none can be made, so commands run without: ${reason}`)
}
