/** The agent that is a language model with the session's tools, durable at every step. */
import type { Agent, StopReason, Turn } from '../../../ports/agent.ts'
import { PERMISSION_MODES, PERMISSION_OPTION } from '../permission-modes.ts'
import { readyTools } from '../ready-tools.ts'
import { playTurn } from './loop.ts'
import type { Means, Work } from './work.ts'

export function openModelAgent(preset: string, means: Means): Agent {
  return {
    commands: [],
    modes: PERMISSION_MODES,
    configOptions: [PERMISSION_OPTION],
    run: (turn) => run(turn, preset, means),
  }
}

async function run(turn: Turn, preset: string, means: Means): Promise<StopReason> {
  const context = await means.contexts.of(turn)
  const work: Work = { turn, means, context, model: () => means.models.open(preset) }
  await readyTools(turn)
  return playTurn(work)
}
