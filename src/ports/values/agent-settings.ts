/** What a user sets for an external agent: read by the configuration, followed when the agent is started. */
import type { ConfigValue } from './settings.ts'

/** `[agents.NAME]` of a settings file. */
export interface AgentEntry {
  readonly name: string
  /** A path, or a name that is looked up on PATH. Absent where the entry only adds to an agent that Parley knows. */
  readonly command?: string
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Names of variables that it gets from the environment besides those of its row; `*` at the end stands for more. */
  readonly passEnv: readonly string[]
  /** The agent of the start table or the registry whose command is taken, under another name. */
  readonly registry?: string
  /** Which installed version. */
  readonly version?: string
  readonly mode?: string
  readonly options?: Readonly<Record<string, ConfigValue>>
  readonly mcp?: 'front' | 'pass' | 'none'
  readonly idleMinutes?: number
  /** Whether it is started when a client opens a stored session, before the first prompt. */
  readonly warm?: boolean
  readonly maxMemoryMb?: number
  readonly stallMinutes?: number
  /** `docs/agents.md` says which there are. */
  readonly quirks: Readonly<Record<string, unknown>>
}
