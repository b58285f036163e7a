/** What a registry knows of a server before it is reached: its name, its rules, and how to reach it. */
import type { McpServer } from '../../../ports/tools.ts'
import type { LoginSettings } from '../oauth/authorization.ts'
import type { ServerRules } from './server-rules.ts'

export interface ServerConfig {
  /** Equal for what may share one connection. */
  readonly key: string
  /** Its name, unlike that of any other server of the registry. */
  readonly label: string
  readonly title: string
  readonly trusted: boolean
  /** Starting it starts a process. */
  readonly isProcess: boolean
  /** A file of the user's or of a project names it. */
  readonly isConfigured: boolean
  /** How people log in there. */
  readonly login?: LoginSettings
  /** Sessions share it, and it stays a while when the last has left. */
  readonly isShared: boolean
  /** It waits for its first use. */
  readonly lazy: boolean
  /** The session that named it first. */
  readonly session: string
  readonly cwd: string
  /** The root set when it was first named. */
  readonly roots: readonly string[]
  readonly rules: ServerRules
  /** How to reach it; Parley's own servers are started by this. */
  readonly locate: () => Promise<McpServer>
  /** What it will list, known without it: it starts with the first call then. Throws what would keep it from starting. */
  readonly foresee?: () => Promise<readonly unknown[]>
  /** Called once, when it will not be located again. */
  readonly release?: () => Promise<void>
}
