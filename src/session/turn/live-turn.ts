/** A running turn as the permissions, tool calls and client services of that turn use it. `RunningTurn` implements it. */
import type { Question, Turn } from '../../ports/agent.ts'
import type { PermissionOutcome } from '../../ports/values/content.ts'
import type { GrantSubject } from '../../ports/rules.ts'
import type { ToolInputRequest } from '../../ports/tools.ts'
import type { ClientUser } from '../client-services/client-request.ts'
import type { PolicyContext } from '../permission/policy.ts'
import type { SessionPorts } from '../session-ports.ts'
import type { AttachedClients } from '../subscribers/subscribers.ts'

export interface LiveTurn extends Turn, ClientUser {
  readonly ports: SessionPorts
  readonly promptId: string
  readonly clients: AttachedClients
  /** The turn is over: nothing more of it is stored. */
  readonly isOver: boolean
  /** The rules, mode and grants that decide about a tool call, as they are now. */
  policyContext(): Promise<PolicyContext>
  /** Runs `work` after the permission requests before it were answered. */
  afterEarlierPermissions<Result>(work: () => Promise<Result>): Promise<Result>
  /** Asks for permission at once; `ask` waits for earlier requests first. Throws if the turn is over. */
  askNow(question: Question, grant?: GrantSubject): Promise<PermissionOutcome>
  /** The input that the server of this call requested before a restart. */
  earlierInputRequest(toolCallId: string): ToolInputRequest | undefined
}
