/** The ports that sessions work through; `server/compose` chooses their adapters. */
import type { Agents } from '../ports/agent.ts'
import type { Clock } from '../ports/clock.ts'
import type { Faults } from '../ports/fault.ts'
import type { Journal } from '../ports/journal.ts'
import type { SessionOwnership } from '../ports/ownership.ts'
import type { Rules } from '../ports/rules.ts'
import type { ToolHost } from '../ports/tools.ts'

export interface SessionPorts {
  readonly journal: Journal
  readonly clock: Clock
  readonly faults: Faults
  readonly agents: Agents
  readonly tools: ToolHost
  readonly rules: Rules
  /** Absent: every session is this process's own. */
  readonly ownership?: SessionOwnership | undefined
  /** Logs an error that no caller gets. It must not contain secrets. */
  readonly report: (error: unknown) => void
}
