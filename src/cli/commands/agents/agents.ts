/** `parley agents` and its commands: the external agents that sessions can use. */
import type { CommandRow, OptionRow } from '../../runtime/command.ts'
import { json, jsonObject } from '../../runtime/options.ts'

const yes: OptionRow = { flags: '--yes', summary: 'answer yes to every question' }

export const agents: CommandRow = {
  usage: 'agents',
  isRemote: true,
  summary: 'manage external agents, such as Claude Code; without a command, list them',
  options: [json],
  examples: ['parley agents', 'parley agents add claude'],
  load: () => import('./ls.ts'),
  commands: [
    {
      usage: 'ls',
      isRemote: true,
      summary: 'list the agents that you can use, and the state of each',
      options: [
        { flags: '--all', summary: 'also those of the ACP registry, which is asked for them once a day' },
        json,
      ],
      examples: ['parley agents ls', 'parley agents ls --all'],
      load: () => import('./ls.ts'),
    },
    {
      usage: 'add [name]',
      instead: 'Agents are installed and removed on the machine of the server: run it there.',
      summary: 'install an exact version of an agent, or take over the agents of another tool',
      options: [
        { flags: '--from <file>', summary: 'the settings of Zed, JetBrains or acpx, instead of a name' },
        yes,
        json,
      ],
      examples: [
        'parley agents add claude',
        'parley agents add codex@2.6.0',
        'parley agents add --from ~/.config/zed/settings.json',
      ],
      load: () => import('./add.ts'),
    },
    {
      usage: 'rm <name>',
      instead: 'Agents are installed and removed on the machine of the server: run it there.',
      summary: 'remove an agent or one version of it, or stop allowing one of .parley.toml',
      options: [jsonObject],
      examples: ['parley agents rm codex', 'parley agents rm codex@2.5.0'],
      load: () => import('./rm.ts'),
    },
    {
      usage: 'test <name>',
      isRemote: true,
      summary: 'start an agent, and show what it can do and how it differs from others',
      options: [
        {
          flags: '--prompts',
          summary: 'also send it two prompts, reopen its session and cancel a turn; this uses its model',
        },
        jsonObject,
      ],
      examples: ['parley agents test claude', 'parley agents test codex --prompts'],
      load: () => import('./test.ts'),
    },
    {
      usage: 'login <name> [method]',
      instead: 'A login belongs to a terminal or a browser on that machine: ssh -t HOST parley agents login NAME.',
      summary: "log in to an agent, in this terminal or in the agent's own way",
      options: [json],
      examples: ['parley agents login claude', 'parley agents login codex api-key'],
      load: () => import('./login.ts'),
    },
    {
      usage: 'import <name> [session]',
      isRemote: true,
      summary: 'import the conversations that you had with an agent in its own tool',
      options: [
        { flags: '--cwd <dir>', summary: 'only those of this directory' },
        { flags: '--all', summary: 'import all that are listed, without asking which' },
        json,
      ],
      examples: ['parley agents import claude', 'parley agents import codex --cwd . --all'],
      load: () => import('./import.ts'),
    },
    {
      usage: 'trust <name>',
      instead: 'Read the file and trust it on that machine, in the directory of the project.',
      summary: 'allow an agent of .parley.toml, exactly as it stands there now',
      options: [],
      examples: ['parley agents trust ours'],
      load: () => import('./trust.ts'),
    },
  ],
}
