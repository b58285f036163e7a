/** Every command of `parley`, loaded only when it runs. */
import { docs } from './commands/docs/docs.ts'
import { mcp } from './commands/mcp/mcp.ts'
import { rules } from './commands/rules/rules.ts'
import type { CommandRow, OptionRow } from './runtime/command.ts'
import { json, jsonObject } from './runtime/options.ts'

const cwd: OptionRow = { flags: '--cwd <dir>', summary: 'the directory to work in; default: current directory' }
const session: OptionRow = {
  flags: '--session <id>',
  summary: 'the session to continue; the beginning of its id is enough',
}
const agent: OptionRow = { flags: '--agent <agent>', summary: 'guide, model, or script:FILE (env PARLEY_AGENT)' }
const model: OptionRow = { flags: '--model <model>', summary: 'PROVIDER:NAME; parley models lists them' }

const embedded: OptionRow = { flags: '--embedded', summary: 'run without a background server' }

const background: OptionRow = { flags: '--background', summary: 'started by another command', hidden: true }

const agentCommand: OptionRow = {
  flags: '--agent-command <command>',
  summary: 'run an external ACP agent by this command, without a background server',
}

const set: OptionRow = {
  flags: '--option <name=value>',
  summary: 'set an option or the mode of the agent first, as in model=large; repeatable',
  many: true,
}

/** `parley` without a command. */
export const chat: CommandRow = {
  usage: 'chat',
  summary: 'chat in this directory: its newest session, or a new one',
  options: [session, cwd, agent, model, embedded],
  examples: ['parley', 'parley --session 1f3a'],
  load: () => import('./commands/chat.ts'),
}

export const commands: readonly CommandRow[] = [
  {
    usage: 'run <prompt>',
    summary: 'answer one prompt in a new session; the exit code says how it ended',
    options: [json, session, cwd, agent, model, embedded, agentCommand, set],
    examples: [
      "parley run 'Where are sessions stored?'",
      "parley run --session 1f3a --json 'And how long?'",
      "parley run --agent-command 'ssh host parley acp' 'Hello'",
    ],
    load: () => import('./commands/sessions/run.ts'),
  },
  {
    usage: 'new',
    summary: 'start a session: opens its chat at a terminal, prints its id elsewhere',
    options: [json, cwd, agent, model],
    examples: ['parley new', 'parley new --json --cwd ~/notes'],
    load: () => import('./commands/sessions/new.ts'),
  },
  {
    usage: 'attach [id]',
    summary: 'join a session, in mid-sentence if need be; the newest of this directory if absent',
    options: [json, cwd, agent],
    examples: ['parley attach', 'parley attach 1f3a --json'],
    load: () => import('./commands/sessions/attach.ts'),
  },
  {
    usage: 'ls',
    summary: 'list the sessions, newest first',
    options: [
      json,
      { flags: '--cwd <dir>', summary: 'only those of exactly this directory' },
      { flags: '--all', summary: 'at a terminal: more than the newest 20' },
    ],
    examples: ['parley ls', 'parley ls --all', 'parley ls --json --cwd "$PWD"'],
    load: () => import('./commands/sessions/ls.ts'),
  },
  {
    usage: 'show <id>',
    summary: 'print what was said in a session; the beginning of its id is enough',
    options: [json],
    examples: ['parley show 1f3a', 'parley show 1f3a --json'],
    load: () => import('./commands/sessions/show.ts'),
  },
  {
    usage: 'search <query...>',
    summary: 'find what was said in any session; all words must occur',
    options: [
      json,
      { flags: '--cwd <dir>', summary: 'only in sessions of exactly this directory' },
      { flags: '--limit <count>', summary: 'how many passages; default: 20' },
    ],
    examples: ['parley search needle haystack', 'parley search --json --limit 100 needle'],
    load: () => import('./commands/sessions/search.ts'),
  },
  {
    usage: 'export <id>',
    summary: 'print a session as Markdown, or as JSON lines that import takes',
    options: [
      { flags: '--format <format>', summary: 'md or jsonl; default: md' },
      { flags: '-o, --output <file>', summary: 'write it there instead' },
    ],
    examples: ['parley export 1f3a > conversation.md', 'parley export 1f3a --format jsonl -o session.jsonl'],
    load: () => import('./commands/sessions/export.ts'),
  },
  {
    usage: 'import <file>',
    summary: 'bring back a session that was exported as JSON lines; prints its id',
    options: [json, { flags: '--keep-id', summary: 'under the id that it had, which must be free' }],
    examples: ['parley import session.jsonl', 'parley import --keep-id session.jsonl'],
    load: () => import('./commands/sessions/import.ts'),
  },
  {
    usage: 'rename <id> <title>',
    summary: 'give a session another title',
    options: [],
    examples: ["parley rename 1f3a 'The storage question'"],
    load: () => import('./commands/sessions/rename.ts'),
  },
  {
    usage: 'fork <id>',
    summary: 'fork a session; prints the new id',
    options: [json, { flags: '--up-to <seq>', summary: 'only as far as this entry; parley show prints their numbers' }],
    examples: ['parley fork 1f3a', 'parley fork 1f3a --up-to 42'],
    load: () => import('./commands/sessions/fork.ts'),
  },
  {
    usage: 'close <id...>',
    summary: 'end what runs in sessions; they can be opened again',
    options: [],
    examples: ['parley close 1f3a 77b2'],
    load: () => import('./commands/sessions/close.ts'),
  },
  {
    usage: 'rm <id...>',
    summary: 'delete sessions for good; asks first',
    options: [{ flags: '--yes', summary: 'do not ask' }],
    examples: ['parley rm 1f3a', 'parley rm --yes 1f3a 77b2'],
    load: () => import('./commands/sessions/rm.ts'),
  },
  {
    usage: 'acp',
    summary: 'serve an editor over ACP on stdin and stdout',
    options: [{ flags: '--embedded', summary: 'run without a background server' }, agent],
    examples: ['parley acp', 'parley acp --embedded --agent guide'],
    load: () => import('./commands/server/acp.ts'),
  },
  {
    usage: 'serve',
    summary: 'run the server that keeps the sessions, in the foreground',
    options: [background],
    examples: ['parley serve'],
    load: () => import('./commands/server/serve.ts'),
  },
  {
    usage: 'status',
    summary: 'show server status',
    options: [jsonObject],
    examples: ['parley status', 'parley status --json'],
    load: () => import('./commands/server/status.ts'),
  },
  {
    usage: 'stop',
    summary: 'stop the server; turns that run get a while to end',
    options: [{ flags: '--grace <seconds>', summary: 'how long to wait for them; default: 10' }],
    examples: ['parley stop', 'parley stop --grace 60'],
    load: () => import('./commands/server/stop.ts'),
  },
  {
    usage: 'logs',
    summary: 'print server logs',
    options: [
      { flags: '-n, --lines <count>', summary: 'how many of the last lines; default: 100' },
      { flags: '-f, --follow', summary: 'keep printing new lines' },
      { flags: '--json', summary: 'the lines as they are' },
    ],
    examples: ['parley logs', 'parley logs -n 20 --follow'],
    load: () => import('./commands/server/logs.ts'),
  },
  {
    usage: 'models',
    summary: 'list the models that can be used, and why the others cannot',
    options: [{ flags: '--provider <name>', summary: 'only those of this provider' }, json],
    examples: ['parley models', 'parley models --provider ollama'],
    load: () => import('./commands/models.ts'),
  },
  mcp,
  rules,
  {
    usage: 'doctor',
    summary: 'look for what is wrong and say what would help; changes nothing',
    options: [json],
    examples: ['parley doctor', 'parley doctor --json'],
    load: () => import('./commands/server/doctor.ts'),
  },
  docs,
]
