/** What Parley must know of an external agent before it starts: the command, and what the agent reported about itself last time. */
import type { ClientVariables, PromptKinds } from '../../../ports/agent.ts'
import type { AgentEntry } from '../../../ports/values/agent-settings.ts'
import type { ConfigValue } from '../../../ports/values/settings.ts'
import type { Quirks } from './quirks.ts'

/** How to start one agent, with nothing left to find out. */
export interface AgentLaunch {
  /** As people type it: `claude`. */
  readonly name: string
  /** Absolute, unless the user configured a name that PATH decides. */
  readonly program: string
  readonly args: readonly string[]
  /** The whole environment, allow-listed. Contains secrets. */
  readonly env: Readonly<Record<string, string>>
  /** The version that was installed or last met; absent if neither is known. */
  readonly version?: string
  /** By the version above. Once `initialize` has given the real one, `AgentCatalogue.quirks` knows better. */
  readonly quirks: Quirks
  /** A mode and options that the user configured for its sessions. */
  readonly mode?: string
  readonly options?: Readonly<Record<string, ConfigValue>>
  readonly mcp: Quirks['mcp']
  /** Until a process without work is stopped. */
  readonly idleMinutes: number
  /** A process that takes more is ended when its turn has ended; the next prompt starts another. */
  readonly maxMemoryMb?: number
  /** A prompt is given up when the agent has said nothing for so long. */
  readonly stallMinutes?: number
  readonly offers?: AgentOffers
}

/** What an agent said of itself when it was last met: answers before it runs again. The JSON of the wire, unchanged. */
export interface AgentOffers {
  /** From its `agentInfo`; empty where it has none. */
  readonly agentName: string
  readonly version: string
  /** The major version of ACP that it answered. */
  readonly protocol: number
  /** Its `agentCapabilities`. */
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly promptKinds: PromptKinds
  /** Its `authMethods`. */
  readonly logins: readonly LoginMethod[]
  /** Of the response to `session/new`; absent where it has none or wants a login first. */
  readonly modes?: unknown
  readonly configOptions?: unknown
  readonly models?: unknown
  /** Of its last `available_commands_update`. */
  readonly commands: readonly unknown[]
  /** Whether `session/new` was refused until the user logs in. */
  readonly needsLogin: boolean
  /** It gives the ids of requests back as texts, where they were numbers. */
  readonly hasTextIds?: true
  /** Milliseconds from the start to the response of `initialize`, and from the request to the response of `session/new`. */
  readonly initMs?: number
  readonly newMs?: number
  /** When it was met, in milliseconds since 1970. */
  readonly at: number
}

export interface LoginMethod {
  readonly id: string
  readonly name: string
  readonly description?: string
  /** `agent` where the agent names none; also `terminal`, `env_var`, and others that may come. */
  readonly type: string
  /** The method as it came. */
  readonly raw: Readonly<Record<string, unknown>>
}

/** Where and for whom an agent is started. */
export interface LaunchPlace {
  /** The directory of the session: its `.parley.toml` may name agents. Absolute. */
  readonly cwd: string
  readonly variables?: ClientVariables | undefined
}

/** `[agents.NAME]` of a settings file, or a command that the user typed; its variables are replaced. Contains secrets. */
export interface OwnAgent extends AgentEntry {
  readonly quirks: Partial<Quirks>
  /** Why it may not be started now, such as a missing consent: half a sentence, with what to type. */
  readonly refused?: string
  /** The same with files and variables, which are for the user of this machine alone. */
  readonly refusedWhy?: string
}
