/** Every command of `parley`, loaded only when it runs. */
import type { CommandRow, OptionRow } from './runtime/command.ts'

const cwd: OptionRow = { flags: '--cwd <dir>', summary: 'the directory to work in; default: current directory' }
const session: OptionRow = {
  flags: '--session <id>',
  summary: 'the session to continue; the beginning of its id is enough',
}
const json: OptionRow = { flags: '--json', summary: 'one line of JSON per item, for programs' }
const agent: OptionRow = { flags: '--agent <agent>', summary: 'guide, model, or script:FILE (env PARLEY_AGENT)' }
const model: OptionRow = { flags: '--model <model>', summary: 'PROVIDER:NAME; parley models lists them' }

const embedded: OptionRow = { flags: '--embedded', summary: 'run without a background server' }

const background: OptionRow = { flags: '--background', summary: 'started by another command', hidden: true }

const agentCommand: OptionRow = {
  flags: '--agent-command <command>',
  summary: 'run an external ACP agent by this command, without a background server',
}

const set: OptionRow = {
  flags: '--set <name=value>',
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
    options: [json, { flags: '--at <seq>', summary: 'only as far as this entry; parley show prints their numbers' }],
    examples: ['parley fork 1f3a', 'parley fork 1f3a --at 42'],
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
    options: [{ flags: '--json', summary: 'one object, for programs' }],
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
  {
    usage: 'mcp [verb] [words...]',
    summary: 'the MCP servers of the configuration: ls, test, add, allow, login, logout, rm, import',
    options: [
      { flags: '--url <url>', summary: 'with add: where the server is, instead of -- COMMAND ARGS' },
      { flags: '--sse', summary: 'the URL speaks SSE, the first protocol over HTTP' },
      { flags: '--header <header>', summary: 'a header for the URL: NAME=VALUE; repeatable', many: true },
      {
        flags: '--env <variable>',
        summary: 'with add: a variable for the command: NAME=VALUE; repeatable',
        many: true,
      },
      { flags: '--json', summary: 'for programs' },
    ],
    examples: [
      'parley mcp ls',
      'parley mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
      'parley mcp add search --url https://example.com/mcp',
    ],
    load: () => import('./commands/mcp/mcp.ts'),
  },
  {
    usage: 'rules [verb] [words...]',
    summary: 'manage permission rules: ls, add, rm, consent',
    options: [
      { flags: '--cwd <dir>', summary: 'the directory whose sessions are meant; default: current directory' },
      { flags: '--session <id>', summary: 'with ls and rm: what was always allowed in this session' },
      { flags: '--everywhere', summary: 'with add: in every directory' },
      { flags: '--tool <name>', summary: 'with add: calls of this tool; * stands for any letters' },
      { flags: '--server <name>', summary: 'with add: calls of this MCP server' },
      { flags: '--path <pattern>', summary: 'with add: calls that name such a path, as in a .gitignore' },
      { flags: '--command <words>', summary: 'with add: commands that begin so; * stands for more' },
      { flags: '--host <name>', summary: 'with add: addresses of this host' },
      json,
    ],
    examples: ['parley rules', "parley rules add allow --command 'npm test'"],
    load: () => import('./commands/rules/rules.ts'),
  },
  {
    usage: 'doctor',
    summary: 'look for what is wrong and say what would help; changes nothing',
    options: [json],
    examples: ['parley doctor', 'parley doctor --json'],
    load: () => import('./commands/server/doctor.ts'),
  },
  {
    usage: 'docs [dir...]',
    summary: 'serve documents to any MCP client: full-text search over HTTP or stdio',
    options: [
      { flags: '--stdio', summary: 'serve the program that started this one, over stdin and stdout' },
      { flags: '--port <port>', summary: 'where to listen; default: a free port' },
      { flags: '--host <host>', summary: 'on which address; default: 127.0.0.1' },
      { flags: '--key-file <file>', summary: 'holds the key, and is made if it is not there (env PARLEY_DOCS_KEY)' },
      { flags: '--tls-cert <file>', summary: 'the certificate, with those above it, as PEM' },
      { flags: '--tls-key <file>', summary: 'the private key of the certificate, as PEM' },
      { flags: '--allow-plain-http', summary: 'listen without TLS on other addresses than loopback too' },
      { flags: '--allow-host <names>', summary: 'further names of this host, separated by commas' },
      { flags: '--allow-query-key', summary: 'take ?api_key= on other addresses than loopback too' },
      { flags: '--collections <names>', summary: 'with key add: what the key opens, separated by commas' },
      json,
    ],
    examples: ['parley docs ~/notes', 'parley docs --stdio ~/notes'],
    load: () => import('./commands/docs/docs.ts'),
  },
]
