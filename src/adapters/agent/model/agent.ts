/** Plays a turn of the model agent: a language model with the session's tools, durable at every step. */
import type { StopReason, Turn } from '../../../ports/agent.ts'
import type { ToolList } from '../../../ports/tools.ts'
import { readyTools } from '../ready-tools.ts'
import { commandsFor } from './options/commands.ts'
import { playTurn } from './loop/loop.ts'
import { chosenModel } from './options/options.ts'
import type { ModelAgentDeps, TurnWork } from './loop/work.ts'

export async function runTurn(turn: Turn, means: ModelAgentDeps): Promise<StopReason> {
  const { models, preset, contexts } = means
  const context = await contexts.of(turn)
  const work: TurnWork = { turn, deps: means, context, model: () => models.open(chosenModel(turn.settings, preset)) }
  // The provider's package loads while MCP servers connect; the first step reports its errors.
  void work.model().catch(() => undefined)
  const list = await readyTools(turn)
  const [stop] = await Promise.all([playTurn(work), offerCommands(work, list)])
  return stop
}

/** The request to the model goes out before the directories of prompt files are read. */
async function offerCommands({ turn, deps: means }: TurnWork, list: ToolList): Promise<void> {
  await means.clock.nextTick()
  await turn.offerCommands(await commandsFor(list, turn.roots, means))
}
