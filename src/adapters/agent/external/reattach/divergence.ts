/** Whether a session was continued in the agent's own tool: the agent's list of sessions says when each was changed. */
import { waitAtMost } from '../../../../async/with-timeout.ts'
import type { AgentMemory } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { AgentProcess } from '../process/agent-process.ts'

const MAX_PAGES = 3
const MAX_MS = 1_000

/** False if the agent cannot tell: a list that fails, is endless or has no times says nothing. */
export async function hasMoved(
  process: AgentProcess,
  memory: AgentMemory,
  { clock, outside }: { readonly clock: Clock; readonly outside: { readonly afterthoughtMs: number } },
): Promise<boolean> {
  if (memory.endedAt === undefined) return false
  const listed = changedAt(process, memory).catch(() => undefined)
  const at = await waitAtMost(Promise.race([listed, process.ended.then(() => undefined)]), { clock, ms: MAX_MS })
  return at !== undefined && at > memory.endedAt + outside.afterthoughtMs
}

/** Milliseconds since 1970; undefined for a session that is not in the first pages. */
async function changedAt(process: AgentProcess, { agentSessionId, cwd }: AgentMemory): Promise<number | undefined> {
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = { cwd, ...(typeof cursor === 'string' && { cursor }) }
    const { sessions, nextCursor } = fieldsOf(await process.peer.request('session/list', params))
    const rows: readonly unknown[] = Array.isArray(sessions) ? sessions : []
    const own = rows.map(fieldsOf).find(({ sessionId }) => sessionId === agentSessionId)
    if (own !== undefined) return timeOf(own['updatedAt'])
    if (typeof nextCursor !== 'string' || nextCursor === cursor) return undefined
    cursor = nextCursor
  }
  return undefined
}

function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}
