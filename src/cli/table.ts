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
  {
    usage: 'docs <dir...>',
    summary: 'serve documents to any MCP client: full-text search over HTTP',
    options: [
      { flags: '--port <port>', summary: 'where to listen; a free port if absent' },
      { flags: '--host <host>', summary: 'on which address; 127.0.0.1 if absent' },
      { flags: '--key-file <file>', summary: 'holds the key, and is made if it is not there (env PARLEY_DOCS_KEY)' },
      { flags: '--allow-query-key', summary: 'take ?api_key= on other addresses than loopback too' },
    ],
    load: () => import('./commands/docs.ts'),
  },
]
