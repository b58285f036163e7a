/** An agent's own conversation for a session while it is open: what it has that the session has not, and how it is closed. */
import { waitAtMost } from '../../../../async/with-timeout.ts'
import type { AgentSession, Turn } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { AgentInfo, AgentProcess } from '../process/agent-process.ts'
import type { Quirks } from '../quirks.ts'
import type { AgentAbilities } from './abilities.ts'
import type { ReplayedTurn } from './replay.ts'

/** For what an agent may do without. */
const COURTESY_MS = 2_000

export interface AgentConversation {
  readonly process: AgentProcess
  readonly info: AgentInfo
  readonly quirks: Quirks
  readonly abilities: AgentAbilities
  readonly sessionId: string
  /** False once the session has other MCP servers than the agent was given. */
  readonly hasServers: () => boolean
  /** What goes in front of the next prompt, because the agent does not know it; empty if it knows everything. */
  preamble: string
  /** Turns that it has and the session has not. */
  outside: readonly ReplayedTurn[]
}

/** Turns that were made in the agent's own tool become part of the transcript, once, in front of the next prompt's answer. */
export async function takeInOutside(conversation: AgentConversation, turn: Turn, session: AgentSession): Promise<void> {
  const { outside, process } = conversation
  conversation.outside = []
  if (outside.length === 0) return
  const count = outside.length === 1 ? '1 turn was' : `${outside.length} turns were`
  await session.notice(`${count} added outside Parley, in ${process.launch.name}'s own session:`, 'again')
  let message = 0
  for (const { prompt, parts } of outside) {
    message += 1
    await turn.tellOutside('user', message, { type: 'text', text: prompt })
    message += 1
    for (const part of parts) {
      const text = part.kind === 'text' ? part.text : `[${part.title}: ${part.status}]`
      await turn.tellOutside('agent', message, { type: 'text', text })
    }
  }
}

export async function closeConversation(
  { process, abilities, sessionId }: AgentConversation,
  clock: Clock,
): Promise<void> {
  if (!abilities.canClose || process.end !== undefined) return
  await courtesy(process, clock, { method: 'session/close', sessionId })
}

/** A copy that its session does not take. */
export async function deleteConversation(process: AgentProcess, sessionId: string, clock: Clock): Promise<void> {
  await courtesy(process, clock, { method: 'session/delete', sessionId })
}

async function courtesy(
  process: AgentProcess,
  clock: Clock,
  { method, sessionId }: { readonly method: string; readonly sessionId: string },
): Promise<void> {
  const answered = process.peer.request(method, { sessionId }).catch(() => undefined)
  await waitAtMost(Promise.race([answered, process.ended]), { clock, ms: COURTESY_MS })
}
