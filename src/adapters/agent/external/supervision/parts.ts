/** What the external agents of a server share. */
import type { Clock } from '../../../../ports/clock.ts'
import type { McpFront } from '../../../../ports/mcp-front.ts'
import type { Processes } from '../../../../ports/process.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import type { AgentCatalogue } from '../catalogue.ts'
import type { LiveAgents } from './live-agents.ts'

export interface ExternalParts {
  readonly processes: Processes
  readonly clock: Clock
  readonly catalogue: Pick<AgentCatalogue, 'launch' | 'offers' | 'quirks' | 'remember'>
  /** The directory of the logs of agents; absent, their stderr is not kept on disk. */
  readonly logDirectory?: string | undefined
  /** Absent, MCP servers are passed on to agents as they are. */
  readonly front?: McpFront | undefined
  /** As which Parley introduces itself. */
  readonly clientInfo: { readonly name: string; readonly title?: string; readonly version: string }
  /** An agent that is silent for so long has not taken a setting. */
  readonly settingMs: number
  /**
   * When a session may have been continued in the agent's own tool: it was idle for so long, and was changed so long after
   * its last turn here.
   */
  readonly outside: { readonly lookAfterMs: number; readonly afterthoughtMs: number }
  /** After so much silence of an agent in a turn, clients get a notification. */
  readonly quietMs: number
  /** Of all sessions. */
  readonly live: LiveAgents
  /** Never aborts. */
  readonly never: Signal
  readonly report: (error: unknown) => void
}
