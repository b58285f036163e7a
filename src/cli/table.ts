/** Every command of `parley`, loaded only when it runs. */
import type { CommandRow, OptionRow } from './command.ts'

const agent: OptionRow = { flags: '--agent <agent>', summary: 'guide, or script:FILE (env PARLEY_AGENT)' }

export const commands: readonly CommandRow[] = [
  {
    usage: 'acp',
    summary: 'serve an editor over ACP on stdin and stdout',
    options: [{ flags: '--embedded', summary: 'owner and agent in this one process' }, agent],
    load: () => import('./commands/acp.ts'),
  },
]
