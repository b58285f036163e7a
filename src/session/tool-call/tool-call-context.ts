/** Who calls a tool of our own: what is done for the call belongs to it, and ends with it. */
import type { Turn } from '../../ports/agent.ts'
import type { PlanEntry, ToolCallPatch } from '../../ports/content.ts'
import type { Journal } from '../../ports/journal.ts'
import type { PathAccessFilter } from '../../ports/bars.ts'
import type { ToolCallContext } from '../../ports/tools.ts'
import { findToolResult } from './find-tool-result.ts'
import type { TurnClientServices } from '../turn/turn-client-services.ts'

export interface ToolCallContextHost {
  readonly turn: Pick<Turn, 'sessionId' | 'turnId' | 'roots' | 'report' | 'plan'>
  readonly journal: Journal
  /** The client of the turn, whose work is told as nothing but this call. */
  readonly client: TurnClientServices
  readonly bars: PathAccessFilter
}

export interface OpenToolCallContext {
  readonly caller: ToolCallContext
  /** The call is over: nothing of it stays with the client, and nothing more is told of it. */
  close(): void
}

export function openToolCallContext(
  toolCallId: string,
  { turn, journal, client, bars }: ToolCallContextHost,
): OpenToolCallContext {
  const { sessionId, turnId, roots } = turn
  let isOver = false
  return {
    caller: {
      sessionId,
      turnId,
      toolCallId,
      roots,
      client,
      pathAccess: bars,
      report: async (patch: ToolCallPatch) => (isOver ? undefined : turn.report(toolCallId, patch)),
      plan: async (entries: readonly PlanEntry[]) => (isOver ? undefined : turn.plan(entries)),
      resultOf: (earlier: string) => findToolResult({ journal, session: sessionId }, earlier),
    },
    close() {
      isOver = true
      client.close()
    },
  }
}
