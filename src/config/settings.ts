/** Every setting: its key, where it may come from, and what it means. `docs/configuration.md` is checked against this table. */
import type { AgentChoice } from './agent-choice.ts'
import type { ListenAddress } from './listen.ts'

export interface Setting {
  /** As in `parley.toml`. */
  readonly key:
    | 'home'
    | 'agent'
    | 'max_steps'
    | 'model_titles'
    | 'discover_local_models'
    | 'model'
    | 'idle_minutes'
    | 'max_stall_seconds'
    | 'docs_key'
    | 'server_token'
    | 'client_token'
    | 'command_sandbox'
    | 'command_network'
    | 'agents_registry'
    | 'experimental'
    | 'listen'
    | 'remote_connections'
    | 'remote_requests_per_second'
    | 'remote_sessions_per_minute'
    | 'remote_roots'
    | 'push_services'
    | 'server'
    | 'cluster'
    | 'cluster_schema'
    | 'cluster_node'
    | 'cluster_listen'
    | 'cluster_advertise'
    | 'cluster_serves'
    | 'cluster_labels'
    | 'cluster_token'
    | 'cluster_unsafe'
    | 'cluster_min_durability'
    | 'faults'
  readonly env: string
  /**
   * The widest place that may set it besides the environment. A project's author is not the user, so a project may only
   * choose among the values that the user already has. `docs/projects.md` has a row for each.
   */
  readonly files: 'none' | 'user' | 'project'
  readonly sentence: string
}

export const settings: readonly Setting[] = [
  {
    key: 'home',
    env: 'PARLEY_HOME',
    files: 'none',
    sentence:
      'The state directory: the journal, the lock and the log. An absolute path. Default: the state directory of the platform.',
  },
  {
    key: 'agent',
    env: 'PARLEY_AGENT',
    files: 'project',
    sentence:
      'What answers prompts: `guide`, `model`, `model:PROVIDER:NAME`, `script:FILE`, the name of an external agent, or `auto`: a model where there is one, else the guide. Default: `auto`.',
  },
  {
    key: 'max_steps',
    env: 'PARLEY_MAX_STEPS',
    files: 'user',
    sentence: 'How many steps a model may take in one turn before it is stopped. Default: 100.',
  },
  {
    key: 'model_titles',
    env: 'PARLEY_MODEL_TITLES',
    files: 'user',
    sentence:
      'Whether a model is asked, beside the first turn of a session, for a short title of it. `true` or `false`. Default: `true`.',
  },
  {
    key: 'discover_local_models',
    env: 'PARLEY_DISCOVER_LOCAL_MODELS',
    files: 'user',
    sentence:
      'Whether servers of models are looked for on the usual ports of this machine. `true` or `false`. Default: `true`.',
  },
  {
    key: 'model',
    env: 'PARLEY_MODEL',
    files: 'project',
    sentence:
      'Which model the agent `model` asks: `PROVIDER:NAME`, as `parley models` lists them. Default: one of the first provider with a key, else one of a server on this machine.',
  },
  {
    key: 'idle_minutes',
    env: 'PARLEY_IDLE_MINUTES',
    files: 'user',
    sentence:
      'After so many minutes without a client and a running turn, a server that a command started ends by itself; 0 is never. Default: 10.',
  },
  {
    key: 'max_stall_seconds',
    env: 'PARLEY_MAX_STALL_SECONDS',
    files: 'user',
    sentence:
      'A server whose main thread is blocked for so many seconds ends itself, so that clients reconnect to a new one; 0 is never. Default: 30.',
  },
  {
    key: 'docs_key',
    env: 'PARLEY_DOCS_KEY',
    files: 'none',
    sentence: 'The key that `parley docs` asks for. Default: one is made and kept in the state directory.',
  },
  {
    key: 'server_token',
    env: 'PARLEY_SERVER_TOKEN',
    files: 'none',
    sentence: 'What a client must give a server before it hears of any session. Default: nothing.',
  },
  {
    key: 'client_token',
    env: 'PARLEY_CLIENT_TOKEN',
    files: 'none',
    sentence: 'What the commands of Parley give a server that demands a token.',
  },
  {
    key: 'command_sandbox',
    env: 'PARLEY_COMMAND_SANDBOX',
    files: 'user',
    sentence:
      'Whether commands run in a sandbox: `off`, `auto` (where this machine can make one) or `on` (or they are refused). Default: `off`.',
  },
  {
    key: 'command_network',
    env: 'PARLEY_COMMAND_NETWORK',
    files: 'user',
    sentence: 'Whether commands in the sandbox reach the network. `true` or `false`. Default: `true`.',
  },
  {
    key: 'agents_registry',
    env: 'PARLEY_AGENTS_REGISTRY',
    files: 'user',
    sentence:
      'The address of the index of the ACP registry, which `parley agents add` asks for agents that Parley does not know. Default: the public one.',
  },
  {
    key: 'experimental',
    env: 'PARLEY_EXPERIMENTAL',
    files: 'user',
    sentence:
      'Whether a server offers what ACP has not settled yet: `session/fork`. `true` or `false`. Default: `false`.',
  },
  {
    key: 'listen',
    env: 'PARLEY_LISTEN',
    files: 'user',
    sentence:
      'Where a server listens for remote clients: `7777` (on 127.0.0.1), `HOST:PORT` or `[::1]:7777`, several separated by commas. Default: nowhere.',
  },
  {
    key: 'remote_connections',
    env: 'PARLEY_REMOTE_CONNECTIONS',
    files: 'user',
    sentence: 'How many remote clients may be connected at once; a quarter of them with one token. Default: 64.',
  },
  {
    key: 'remote_requests_per_second',
    env: 'PARLEY_REMOTE_REQUESTS_PER_SECOND',
    files: 'user',
    sentence: 'How many HTTP requests a remote client may make in a second; ten times as many at once. Default: 20.',
  },
  {
    key: 'remote_sessions_per_minute',
    env: 'PARLEY_REMOTE_SESSIONS_PER_MINUTE',
    files: 'user',
    sentence: 'How many sessions a remote client may start in a minute. Default: 20.',
  },
  {
    key: 'remote_roots',
    env: 'PARLEY_REMOTE_ROOTS',
    files: 'user',
    sentence:
      'Directories in and below which remote clients may start sessions that may not do so anywhere, absolute, separated by commas. Default: none; they start sessions in directories that have sessions.',
  },
  {
    key: 'push_services',
    env: 'PARLEY_PUSH_SERVICES',
    files: 'user',
    sentence:
      'Push services of your own to which notifications of the page may be sent besides those of Chrome, Firefox, Safari and Edge: their origins, separated by commas. Default: none.',
  },
  {
    key: 'server',
    env: 'PARLEY_SERVER',
    files: 'user',
    sentence:
      'The remote server that commands use, as `--server` does: a name from `parley login`, its address, or `ssh://HOST`. Default: the one of this machine.',
  },
  {
    key: 'cluster',
    env: 'PARLEY_CLUSTER',
    files: 'user',
    sentence:
      'The PostgreSQL in which sessions are kept: `postgres://USER@HOST/DATABASE`, several databases separated by spaces. Default: none, and they are kept in the state directory.',
  },
  {
    key: 'cluster_schema',
    env: 'PARLEY_CLUSTER_SCHEMA',
    files: 'user',
    sentence: 'The schema of these databases in which the tables of the cluster are. Default: `parley`.',
  },
  {
    key: 'cluster_node',
    env: 'PARLEY_NODE',
    files: 'user',
    sentence: 'The name of this machine among the nodes of the cluster. Default: its host name.',
  },
  {
    key: 'cluster_listen',
    env: 'PARLEY_CLUSTER_LISTEN',
    files: 'user',
    sentence:
      'Where this node listens for the other nodes of the cluster: `HOST:PORT`. Default: `127.0.0.1` and a free port, which nodes of the same machine reach.',
  },
  {
    key: 'cluster_advertise',
    env: 'PARLEY_CLUSTER_ADVERTISE',
    files: 'user',
    sentence: 'Where the other nodes reach this one, `HOST:PORT`, if that is not where it listens.',
  },
  {
    key: 'cluster_serves',
    env: 'PARLEY_CLUSTER_SERVES',
    files: 'user',
    sentence:
      'The directories whose sessions this node takes, with all below them, absolute, separated by commas; `*` stands for any letters of a name, `**` for any directories. Default: every directory.',
  },
  {
    key: 'cluster_labels',
    env: 'PARLEY_CLUSTER_LABELS',
    files: 'user',
    sentence:
      'What else is special about this node, for sessions that ask for it: `gpu=yes`, several separated by commas. Default: nothing.',
  },
  {
    key: 'cluster_token',
    env: 'PARLEY_CLUSTER_TOKEN',
    files: 'user',
    sentence:
      'The secret by which the nodes of the cluster know each other; the same on all of them. Default: one that they keep in its database.',
  },
  {
    key: 'cluster_unsafe',
    env: 'PARLEY_CLUSTER_UNSAFE',
    files: 'user',
    sentence:
      'Whether a database is used whose settings lose what was stored when its machine stops. `true` or `false`. Default: `false`.',
  },
  {
    key: 'cluster_min_durability',
    env: 'PARLEY_CLUSTER_MIN_DURABILITY',
    files: 'user',
    sentence:
      'What an acknowledgement must survive. `disk`: the loss of power. `replicated`: also the loss of a disk, so a database without a synchronous standby is refused, and waited for when it loses it later. Default: `disk`.',
  },
  {
    key: 'faults',
    env: 'PARLEY_FAULTS',
    files: 'none',
    sentence:
      'For tests: a JSON list of `{point, action, nth, ms?, during?}` that cuts, delays or hangs at named points.',
  },
]

/** A fault as a test writes it; `docs/internals/faults.md` lists the points. */
export interface InjectedFault {
  readonly point: string
  readonly action: 'kill' | 'throw' | 'delay' | 'hang'
  readonly nth: number
  readonly ms?: number
  readonly during?: string
}

export interface ClusterSettings {
  /** The addresses of its databases, in their order. May hold passwords. */
  readonly urls: readonly string[]
  readonly schema: string
  /** Of this machine. */
  readonly node: string
  /** For the other nodes. */
  readonly listen: ListenAddress
  /** Where they reach it; absent: where it listens. */
  readonly advertise: ListenAddress | undefined
  /** Patterns of directories; absent: every directory. */
  readonly serves: readonly string[] | undefined
  readonly labels: Readonly<Record<string, string>>
  /** Secret; absent: the one in the database. */
  readonly token: string | undefined
  readonly unsafe: boolean
  /** What an acknowledgement must survive. */
  readonly minDurability: 'disk' | 'replicated'
}

export interface Config {
  /** Absolute. */
  readonly home: string
  /** Where the server of this state directory listens; absolute. */
  readonly socket: string
  readonly agent: AgentChoice
  /** Named now, by a flag or in the environment: sessions that are opened again get it too. */
  readonly agentChosen: boolean
  /** The settings that were ignored and why, one sentence each, without secrets: for the user who runs the command. */
  readonly warnings: readonly string[]
  readonly maxSteps: number
  readonly modelTitles: boolean
  /** Whether to look for model servers on the usual ports of this machine. */
  readonly discoverLocalModels: boolean
  /** `provider:name`; undefined for the default model. */
  readonly model: string | undefined
  /** Named now, by a flag or in the environment. */
  readonly modelChosen: boolean
  /** 0 is never. */
  readonly idleMinutes: number
  /** 0 is never. */
  readonly maxStallSeconds: number
  readonly docsKey: string | undefined
  /** The token that this server requires of its clients. */
  readonly serverToken: string | undefined
  /** The token that our own clients send to a server. */
  readonly clientToken: string | undefined
  readonly commandSandbox: 'off' | 'auto' | 'on'
  readonly commandNetwork: boolean
  /** The index of the ACP registry. */
  readonly agentsRegistry: string
  readonly experimental: boolean
  /** Where the server listens for remote clients; empty: nowhere. */
  readonly listen: readonly ListenAddress[]
  /** Of remote clients. */
  readonly remoteConnections: number
  readonly remoteRequestsPerSecond: number
  readonly remoteSessionsPerMinute: number
  readonly remoteRoots: readonly string[]
  /** Origins of push services besides the known ones. */
  readonly pushServices: readonly string[]
  /** The remote server that commands use; absent: that of this machine. */
  readonly server?: string | undefined
  /** Where sessions are kept; absent: in the state directory. */
  readonly cluster: ClusterSettings | undefined
  readonly faults: readonly InjectedFault[]
  /** Environment variables for model providers, which a client sends to a server that runs already. Secret. */
  readonly providerVariables: Readonly<Record<string, string>>
  /** The whole environment; child processes get the allow-listed part of it. */
  readonly environment: Readonly<Record<string, string | undefined>>
}
