/** The walls of the house as data: which folder may import which, and who alone may touch what. ARCHITECTURE.md tells why. */

export interface Wall {
  /** The folders it may import besides itself; `adapters/*` means every adapter. */
  readonly may: readonly string[]
  /** Which of Node's own modules it may import. */
  readonly node: 'any' | readonly string[]
}

const pure: Wall['node'] = []

/** An adapter: its port, the errors, the language, small files of the state, and the two things that every adapter may share. */
const adapter: Wall = {
  may: [
    'ports',
    'errors',
    'text',
    'path-rules',
    'async',
    'state-files',
    'net-policy',
    'adapters/clock',
    'adapters/fault',
  ],
  node: 'any',
}

/** Rooms by their path under `src/`; the longest that fits a file is its room. */
export const walls: Readonly<Record<string, Wall>> = {
  errors: { may: [], node: pure },
  text: { may: [], node: pure },
  form: { may: [], node: pure },
  markdown: { may: [], node: pure },
  ports: { may: ['errors'], node: pure },
  'path-rules': { may: ['ports'], node: pure },
  // Pure decisions about commands, entries and state: they know nothing of the log, the turns and the clients around them.
  'session/domain': { may: ['ports', 'errors', 'form', 'path-rules'], node: pure },
  session: { may: ['session/domain', 'ports', 'errors', 'form', 'path-rules', 'async'], node: pure },
  rpc: { may: [], node: pure },
  async: { may: ['errors', 'ports'], node: pure },
  sqlite: { may: ['errors', 'ports', 'async'], node: 'any' },
  threads: { may: ['errors'], node: ['worker_threads'] },
  'state-files': { may: ['ports', 'errors', 'async', 'sqlite'], node: 'any' },
  credentials: { may: ['errors', 'ports', 'async', 'state-files'], node: 'any' },
  workspace: { may: ['ports', 'errors', 'text', 'path-rules'], node: 'any' },
  'net-policy': { may: [], node: ['net', 'dns/promises', 'util'] },
  'adapters/clock': { may: ['ports', 'errors'], node: 'any' },
  'adapters/fault': { may: ['ports', 'errors', 'adapters/clock'], node: 'any' },
  'adapters/telemetry': { may: ['ports'], node: pure },
  'adapters/watchdog': { may: ['ports', 'adapters/clock'], node: 'any' },
  'adapters/journal': { ...adapter, may: [...adapter.may, 'sqlite', 'threads', 'adapters/watchdog'] }, // its thread watches the main thread
  'adapters/search': { ...adapter, may: [...adapter.may, 'sqlite', 'threads'] },
  'adapters/agent': { ...adapter, may: [...adapter.may, 'path-rules', 'rpc'] },
  'shell-safety': { may: ['errors', 'ports', 'workspace'], node: 'any' },
  'adapters/checking': { ...adapter, may: [...adapter.may, 'threads'] },
  'adapters/mcp': { ...adapter, may: [...adapter.may, 'rpc', 'adapters/checking'] },
  'adapters/builtin-tools': {
    ...adapter,
    may: [...adapter.may, 'docs-search/index', 'workspace', 'shell-safety', 'adapters/checking', 'adapters/mcp'],
  },
  'adapters/tool-registry': {
    ...adapter,
    may: [...adapter.may, 'adapters/checking', 'adapters/mcp', 'adapters/builtin-tools'],
  },
  'adapters/model': adapter,
  'adapters/process': adapter,
  'adapters/push': adapter,
  'adapters/files': adapter,
  'adapters/terminal': adapter,
  edge: {
    may: ['credentials', 'session', 'session/domain', 'ports', 'errors', 'text', 'rpc', 'async', 'workspace'],
    node: 'any',
  },
  relay: { may: ['errors', 'rpc'], node: ['net', 'stream'] },
  // A library: it knows neither HTTP nor MCP, so that a builtin tool and the document server can both search it.
  'docs-search/index': {
    may: ['errors', 'text', 'async', 'sqlite', 'threads', 'path-rules', 'workspace', 'state-files'],
    node: 'any',
  },
  'docs-search': {
    may: [
      'docs-search/index',
      'credentials',
      'errors',
      'text',
      'markdown',
      'async',
      'sqlite',
      'path-rules',
      'workspace',
      'state-files',
      'net-policy',
    ],
    node: 'any',
  },
  config: { may: ['ports', 'errors', 'state-files', 'path-rules', 'net-policy'], node: 'any' },
  server: {
    may: [
      'session',
      'session/domain',
      'ports',
      'errors',
      'text',
      'async',
      'rpc',
      'credentials',
      'relay', // a node of a cluster moves its clients to another node as an editor's relay does to another server
      'sqlite',
      'threads',
      'path-rules',
      'state-files',
      'workspace',
      'net-policy',
      'adapters/*',
      'edge',
      'docs-search',
      'docs-search/index',
      'config',
    ],
    node: 'any',
  },
  client: { may: ['errors', 'rpc', 'async'], node: pure },
  cli: {
    may: [
      'server',
      'client',
      'relay',
      'credentials',
      'docs-search',
      'tui',
      'config',
      'form',
      'text',
      'threads',
      'async',
      'errors',
      'workspace',
    ],
    node: 'any',
  },
  web: { may: ['client', 'form', 'markdown'], node: pure }, // Markdown is as hostile in a conversation as in a document
  tui: { may: ['client'], node: 'any' },
  'client.ts': { may: ['client'], node: pure },
  'index.ts': { may: ['server', 'client', 'session', 'ports', 'errors', 'config'], node: pure },
}

/** Where a room may import only these files of another. */
export const seams: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  edge: { session: ['src/session/handle.ts'] }, // a session may run in another process behind the same handle
}

/** One npm package behind one folder. More than one folder is a double, and says why. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  '@ai-sdk/anthropic': ['adapters/model'],
  '@ai-sdk/google': ['adapters/model'],
  '@ai-sdk/openai-compatible': ['adapters/model'],
  '@ai-sdk/provider': ['adapters/model'],
  '@modelcontextprotocol/client': ['adapters/mcp', 'adapters/checking'],
  '@modelcontextprotocol/node': ['docs-search', 'adapters/mcp'], // two servers: of documents, and of a session's servers for its agent
  '@modelcontextprotocol/server': ['docs-search', 'adapters/mcp'],
  '@parcel/watcher': ['docs-search/index'],
  '@photostructure/sqlite': ['sqlite'],
  commander: ['cli'],
  fflate: ['docs-search/index', 'adapters/agent'], // agents come as zip archives too
  ignore: ['workspace'],
  mammoth: ['docs-search/index'],
  marked: ['markdown', 'docs-search', 'web'], // only its lexer; its HTML is never used
  'modern-tar': ['adapters/agent'],
  'opencc-js': ['docs-search/index'],
  '@clack/prompts': ['cli'],
  htmlparser2: ['docs-search/index'],
  'ipaddr.js': ['net-policy'],
  'jsonc-parser': ['server'],
  pg: ['adapters/journal'],
  picocolors: ['cli'],
  pino: ['server'],
  'smol-toml': ['config'],
  stemmer: ['docs-search/index'],
  'string-width': ['cli'],
  unbash: ['shell-safety'],
  unpdf: ['docs-search/index'],
  uqr: ['cli', 'web'],
  undici: ['net-policy', 'adapters/mcp', 'adapters/builtin-tools', 'adapters/push'], // neither ports' servers answer in the time that fetch gives them
  ws: ['edge', 'cli', 'relay', 'server'], // who listens, and who connects to a remote server or to another node
  zod: ['edge', 'config', 'docs-search', 'server', 'adapters/agent', 'adapters/mcp', 'adapters/builtin-tools'], // wherever unknown input is parsed
}

/** Native packages: they stand beside Parley where it is installed. All others are bundled into `dist`. */
export const installed: readonly string[] = ['@photostructure/sqlite', '@parcel/watcher']

/** What is bundled into the page, and never installed with Parley. */
export const pagePackages: Readonly<Record<string, readonly string[]>> = {
  preact: ['web'],
  '@preact/signals': ['web'],
  lowlight: ['web'],
  diff: ['web'],
}

/** A file outside `src/` that may be imported, and where. */
export const outside: Readonly<Record<string, readonly string[]>> = {
  'package.json': ['server'], // for the version; whoever else tells it is given it
}

/** What the first screen of a command must not wait for: `cli/main.ts` reaches these only by `import()`. */
export const lazy = {
  from: 'src/cli/main.ts',
  rooms: ['server', 'client', 'docs-search', 'tui'],
} as const

/** Only this file of the server names adapters; the rest of it sees ports. */
export const compose = 'src/server/compose/compose.ts'

/** And what does so beside it. */
export const composers: readonly string[] = [
  compose,
  'src/server/compose/sessions.ts', // for sessions: loaded behind the answer to `initialize`
  'src/server/agents/mcp-front.ts', // for external agents that reach the servers of their sessions
  'src/server/compose/models.ts', // also for a relay that says what a server will answer, before there is one
  'src/server/compose/inspect.ts', // for commands without an owner
  'src/server/compose/open-state.ts', // for commands that only read, and for what an owner's loading need not hold up
  'src/server/compose/agent-catalogue.ts', // for commands about agents: they need neither an owner nor a journal
  'src/server/cluster/open-cluster.ts', // where sessions are kept in PostgreSQL: nothing of it is loaded elsewhere
  'src/server/telemetry/open-telemetry.ts', // where a collector of telemetry is set: nothing of it is loaded elsewhere
  'src/server/push/open-web-push.ts', // for devices that want notifications: nothing of it is loaded elsewhere
  'src/server/cluster/cluster-reading.ts', // for commands that look at a cluster
  'src/server/cluster/shared-credentials.ts', // for nodes and for commands about their clients
  'src/server/cluster/copy-sessions.ts', // for commands that copy between a cluster and a state directory
  'src/server/cluster/search/reader-worker.ts', // likewise, for the thread that reads a cluster for the search index
  'src/server/cluster/search/index-order.ts', // for all who open the search index
  'src/server/compose/search-worker.ts', // for a thread of its own, to which nothing but plain values can be passed in
]

export interface Habit {
  readonly what: string
  /** What to do instead. */
  readonly instead: string
  /** Where it is at home: paths that begin so. */
  readonly home: readonly string[]
}

/** What only some may touch. An exception carries its reason. */
export const habits = {
  environment: {
    what: 'the environment',
    instead: 'only config reads it; take the value as an argument',
    home: ['src/config/'],
  },
  commandLine: {
    what: 'the command line or the exit code',
    instead: 'only cli reads argv and decides how the process ends; return or throw',
    home: [
      'src/cli/',
      'src/adapters/fault.ts', // ends the process on purpose, when a test says so
    ],
  },
  time: {
    what: 'the time, a timer, an id or chance',
    instead: 'take a Clock from ports/clock.ts',
    home: [
      'src/adapters/clock.ts',
      'src/adapters/fault.ts', // delays a step on purpose, when a test says so
      'src/cli/relay.ts', // starts before anything that has a clock is loaded
      'src/cli/output/terminal/pace.ts', // frames and "3 min ago" for people who look at a screen
      'src/client/connection/over-web-socket.ts', // for programs that leave their timers to it
      'src/relay/websocket-stream.ts', // pings another machine, and does not wait for it for ever
      'src/server/admin/one-request.ts', // does not wait for ever for a server that hangs
      'src/server/launch/launch.ts', // waits for another process, where there is no server with a clock yet
      'src/web/', // frames, and the time of day, for people who look at a screen
      'src/docs-search/', // a server of its own without ports; its tests wait for events
    ],
  },
  date: {
    what: 'Date',
    instead: 'the core counts milliseconds that it was given',
    home: [],
  },
} as const satisfies Record<string, Habit>

/** The core never says `Date`, not even to format one. */
export const withoutDate = ['src/errors/', 'src/text/', 'src/form/', 'src/ports/', 'src/path-rules/', 'src/session/']
