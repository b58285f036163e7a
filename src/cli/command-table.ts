/** Every command of `parley`. The code of a command is loaded only when it runs. */
import { access } from './commands/access/access.ts'
import { cluster, clusterOption } from './commands/cluster/cluster.ts'
import { agents } from './commands/agents/agents.ts'
import { docs } from './commands/docs/docs.ts'
import { mcp } from './commands/mcp/mcp.ts'
import { rules } from './commands/rules/rules.ts'
import { service } from './commands/service/service.ts'
import { token } from './commands/token/token.ts'
import type { CommandRow, OptionRow } from './runtime/command.ts'
import { json, jsonObject } from './runtime/options.ts'

const cwd: OptionRow = { flags: '--cwd <dir>', summary: 'the directory to work in; default: current directory' }
const session: OptionRow = {
  flags: '--session <id>',
  summary: 'the session to continue; the beginning of its id is enough',
}
const agent: OptionRow = {
  flags: '--agent <agent>',
  summary: 'guide, model, script:FILE, or an external agent (env PARLEY_AGENT)',
}
const model: OptionRow = { flags: '--model <model>', summary: 'PROVIDER:NAME; parley models lists them' }

const embedded: OptionRow = { flags: '--embedded', summary: 'run without a background server' }

const background: OptionRow = { flags: '--background', summary: 'started by another command', hidden: true }

const agentCommand: OptionRow = {
  flags: '--agent-command <command>',
  summary: 'run an external ACP agent with this command, without a background server',
}

const agentOption: OptionRow = {
  flags: '--option <name=value>',
  summary: 'set an option or the mode of the agent before the prompt, as in model=large; repeatable',
  many: true,
}

/** `parley` without a command name. */
export const chat: CommandRow = {
  usage: 'chat',
  isRemote: true,
  summary: 'chat in this directory: its newest session, or a new one',
  options: [session, cwd, agent, model, embedded],
  examples: ['parley', 'parley --session 1f3a'],
  load: () => import('./commands/chat.ts'),
}

export const commands: readonly CommandRow[] = [
  {
    usage: 'run <prompt>',
    isRemote: true,
    summary: 'answer one prompt; the exit code says how the turn ended',
    options: [json, session, cwd, agent, model, embedded, agentCommand, agentOption],
    examples: [
      "parley run 'Where are sessions stored?'",
      "parley run --session 1f3a --json 'And how long?'",
      "parley run --agent-command 'ssh host parley acp' 'Hello'",
    ],
    load: () => import('./commands/sessions/run.ts'),
  },
  {
    usage: 'new',
    isRemote: true,
    summary: 'start a session: open its chat at a terminal, print its id elsewhere',
    options: [json, cwd, agent, model],
    examples: ['parley new', 'parley new --json --cwd ~/notes'],
    load: () => import('./commands/sessions/new.ts'),
  },
  {
    usage: 'attach [id]',
    isRemote: true,
    summary: 'join a session, also in the middle of a turn; default: the newest of this directory',
    options: [json, cwd, agent],
    examples: ['parley attach', 'parley attach 1f3a --json'],
    load: () => import('./commands/sessions/attach.ts'),
  },
  {
    usage: 'ls',
    isRemote: true,
    summary: 'list the sessions, newest first',
    options: [
      json,
      { flags: '--cwd <dir>', summary: 'only sessions of exactly this directory' },
      { flags: '--all', summary: 'at a terminal: list all, not only the newest 20' },
    ],
    examples: ['parley ls', 'parley ls --all', 'parley ls --json --cwd "$PWD"'],
    load: () => import('./commands/sessions/ls.ts'),
  },
  {
    usage: 'show <id>',
    isRemote: true,
    summary: 'print the conversation of a session; the beginning of its id is enough',
    options: [json],
    examples: ['parley show 1f3a', 'parley show 1f3a --json'],
    load: () => import('./commands/sessions/show.ts'),
  },
  {
    usage: 'search <query...>',
    isRemote: true,
    summary: 'search all sessions; every word must occur',
    options: [
      json,
      { flags: '--cwd <dir>', summary: 'only in sessions of exactly this directory' },
      { flags: '--limit <count>', summary: 'maximum number of passages; default: 20' },
    ],
    examples: ['parley search needle haystack', 'parley search --json --limit 100 needle'],
    load: () => import('./commands/sessions/search.ts'),
  },
  {
    usage: 'export <id>',
    isRemote: true,
    summary: 'print a session as Markdown, or as JSON lines for parley import',
    options: [
      { flags: '--format <format>', summary: 'md or jsonl; default: md' },
      { flags: '-o, --output <file>', summary: 'write to this file instead of standard output' },
    ],
    examples: ['parley export 1f3a > conversation.md', 'parley export 1f3a --format jsonl -o session.jsonl'],
    load: () => import('./commands/sessions/export.ts'),
  },
  {
    usage: 'import [path]',
    isRemote: true,
    summary: 'import an exported session and print its id, or the sessions of another tool',
    options: [
      json,
      { flags: '--keep-id', summary: 'keep the id of the exported session, which must not exist here' },
      { flags: '--from <tool>', summary: 'from the session files of claude, codex, gemini or opencode' },
      { flags: '--all', summary: 'with --from: import all that are listed' },
    ],
    examples: ['parley import session.jsonl', 'parley import --from claude', 'parley import --from codex --all'],
    load: () => import('./commands/import/import.ts'),
  },
  {
    usage: 'rename <id> <title>',
    isRemote: true,
    summary: 'change the title of a session',
    options: [],
    examples: ["parley rename 1f3a 'The storage question'"],
    load: () => import('./commands/sessions/rename.ts'),
  },
  {
    usage: 'fork <id>',
    isRemote: true,
    summary: 'fork a session; print the new id',
    options: [
      json,
      { flags: '--up-to <seq>', summary: 'copy only up to this entry; parley show prints entry numbers' },
    ],
    examples: ['parley fork 1f3a', 'parley fork 1f3a --up-to 42'],
    load: () => import('./commands/sessions/fork.ts'),
  },
  {
    usage: 'close <id...>',
    isRemote: true,
    summary: 'close sessions, cancelling running turns; they can be opened again',
    options: [],
    examples: ['parley close 1f3a 77b2'],
    load: () => import('./commands/sessions/close.ts'),
  },
  {
    usage: 'release <id...>',
    isRemote: true,
    summary: 'end idle external agents now, so that their own tools can open the session',
    options: [],
    examples: ['parley release 1f3a'],
    load: () => import('./commands/agents/release.ts'),
  },
  {
    usage: 'rm <id...>',
    isRemote: true,
    summary: 'delete sessions permanently; asks first',
    options: [{ flags: '--yes', summary: 'do not ask' }],
    examples: ['parley rm 1f3a', 'parley rm --yes 1f3a 77b2'],
    load: () => import('./commands/sessions/rm.ts'),
  },
  {
    usage: 'acp',
    isRemote: true,
    summary: 'serve an editor over ACP on stdin and stdout',
    options: [
      embedded,
      agent,
      { flags: '--login <agent>', summary: 'log in to an external agent instead, as AGENT or AGENT/METHOD' },
      {
        flags: '--map <local=remote>',
        summary:
          'with --server: a directory of the editor and the same one on the server; repeatable, the longest match wins',
        many: true,
      },
      { flags: '--lend', summary: "with --server: let the server use the editor's files and terminals" },
    ],
    examples: ['parley acp', 'parley acp --embedded --agent guide', 'parley acp --login claude'],
    load: () => import('./commands/server/acp.ts'),
  },
  {
    usage: 'serve',
    instead: 'Start a server on that machine: parley serve --listen ADDRESS.',
    summary: 'run the session server in the foreground',
    options: [
      {
        flags: '--listen <address>',
        summary: 'listen for remote clients on PORT or HOST:PORT; repeatable (env PARLEY_LISTEN)',
        many: true,
      },
      { flags: '--tls-cert <file>', summary: 'the certificate and its chain, as PEM' },
      { flags: '--tls-key <file>', summary: 'the private key of the certificate, as PEM' },
      { flags: '--client-ca <file>', summary: 'accept only clients with a certificate signed by these, as PEM' },
      { flags: '--public-url <url>', summary: 'the https address at which a proxy receives clients' },
      { flags: '--trust-proxy <address>', summary: 'trust X-Forwarded-For of this proxy; repeatable', many: true },
      {
        flags: '--allow-origin <origin>',
        summary: 'allow pages of this origin, with a token; repeatable',
        many: true,
      },
      { flags: '--insecure-http', summary: 'listen without TLS on addresses other than loopback too' },
      clusterOption,
      background,
    ],
    examples: ['parley serve', 'parley serve --listen 7777'],
    load: () => import('./commands/server/serve.ts'),
  },
  {
    usage: 'status',
    isRemote: true,
    summary: 'show server status',
    options: [jsonObject, { flags: '--watch', summary: 'show it again every two seconds' }],
    examples: ['parley status', 'parley status --json', 'parley status --watch'],
    load: () => import('./commands/server/status.ts'),
  },
  {
    usage: 'stop',
    isRemote: true,
    summary: 'stop the server after its running turns',
    options: [{ flags: '--grace <seconds>', summary: 'how long to wait for running turns; default: 10' }],
    examples: ['parley stop', 'parley stop --grace 60'],
    load: () => import('./commands/server/stop.ts'),
  },
  {
    usage: 'logs',
    isRemote: true,
    summary: 'print server logs',
    options: [
      { flags: '-n, --lines <count>', summary: 'number of last lines to print; default: 100' },
      { flags: '-f, --follow', summary: 'keep printing new lines' },
      { flags: '--json', summary: 'print the lines as stored, as JSON' },
    ],
    examples: ['parley logs', 'parley logs -n 20 --follow'],
    load: () => import('./commands/server/logs.ts'),
  },
  {
    usage: 'models',
    isRemote: true,
    summary: 'list the available models, and why others are not available',
    options: [{ flags: '--provider <name>', summary: 'only models of this provider' }, json],
    examples: ['parley models', 'parley models --provider ollama'],
    load: () => import('./commands/models.ts'),
  },
  agents,
  mcp,
  rules,
  ...access,
  token,
  cluster,
  {
    usage: 'doctor',
    instead: 'Run it on that machine; parley status shows its server from here.',
    summary: 'check the installation and suggest fixes; changes nothing',
    options: [
      json,
      { flags: '--bundle <file>', summary: 'write what a bug report needs, without secrets and conversations' },
    ],
    examples: ['parley doctor', 'parley doctor --json', 'parley doctor --bundle report.json'],
    load: () => import('./commands/server/doctor.ts'),
  },
  service,
  {
    usage: 'setup [editor...]',
    instead: 'Set up an editor on the machine where it runs, with the command parley acp --server NAME.',
    summary: 'find editors and agents here, and show the settings that add Parley to an editor',
    options: [
      { flags: '--write', summary: 'write it into the settings of the editors, without asking' },
      { flags: '--undo', summary: 'remove what was written' },
      { flags: '--print <editor>', summary: 'print only the lines for zed, jetbrains, vscode, neovim or emacs' },
      json,
    ],
    examples: ['parley setup', 'parley setup --print zed', 'parley setup zed --write'],
    load: () => import('./commands/setup/setup.ts'),
  },
  {
    usage: 'completion [shell...]',
    instead: 'It does not depend on the server.',
    summary: 'print a completion script for bash, zsh or fish: commands, sessions, agents and models',
    options: [
      { flags: '--words', summary: 'the words of a command line follow; print what may come next', hidden: true },
    ],
    examples: ['parley completion bash', 'parley completion zsh', 'parley completion fish'],
    load: async () => {
      const { complete } = await import('./commands/completion/completion.ts')
      return { run: (input) => complete(input, { commands, chat }) }
    },
  },
  docs,
]
