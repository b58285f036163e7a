/** `parley rules` and its commands: rules that allow, ask about or deny tool calls. */
import type { CommandRow, OptionRow } from '../../runtime/command.ts'
import { json } from '../../runtime/options.ts'

const cwd: OptionRow = {
  flags: '--cwd <dir>',
  summary: 'the directory whose sessions follow the rules; default: current directory',
}
const session: OptionRow = { flags: '--session <id>', summary: 'also what was always allowed in this session' }

export const rules: CommandRow = {
  usage: 'rules',
  isRemote: true,
  summary: 'manage permission rules; without a command, list them',
  options: [cwd, session, json],
  examples: ['parley rules', 'parley rules --json'],
  load: () => import('./ls.ts'),
  commands: [
    {
      usage: 'ls',
      isRemote: true,
      summary: 'list every rule that holds in a directory',
      options: [cwd, session, json],
      examples: ['parley rules ls', 'parley rules ls --json --session 1f3a'],
      load: () => import('./ls.ts'),
    },
    {
      usage: 'add <effect>',
      isRemote: true,
      summary: 'add a rule; the effect is allow, ask or deny',
      options: [
        cwd,
        { flags: '--global', summary: 'in every directory' },
        { flags: '--tool <name>', summary: 'calls of this tool; * stands for any letters' },
        { flags: '--server <name>', summary: 'calls of this MCP server' },
        { flags: '--path <pattern>', summary: 'calls that name a matching path; patterns as in .gitignore' },
        { flags: '--command <words>', summary: 'commands that begin with these words; * stands for any others' },
        { flags: '--host <name>', summary: 'addresses of this host' },
        json,
      ],
      examples: ["parley rules add allow --command 'npm test'", "parley rules add deny --path 'secret/**' --global"],
      load: () => import('./add.ts'),
    },
    {
      usage: 'rm <id>',
      isRemote: true,
      summary: 'remove a rule; the beginning of its id is enough',
      options: [cwd, { flags: '--session <id>', summary: 'what was always allowed in this session' }],
      examples: ['parley rules rm 4be1', 'parley rules rm 4be1 --session 1f3a'],
      load: () => import('./rm.ts'),
    },
    {
      usage: 'trust',
      instead: 'Read the file and trust it on that machine, in the directory of the project.',
      summary: 'agree to what .parley.toml allows, exactly as it stands there now',
      options: [cwd],
      examples: ['parley rules trust'],
      load: () => import('./trust.ts'),
    },
  ],
}
