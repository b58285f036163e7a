/** The agents that there are, and whether the one that is chosen can be opened. */
import { agentName } from '../../config/agent-choice.ts'
import type { Config } from '../../config/settings.ts'
import { reasonOf } from '../../errors/parley-error.ts'
import { openDefaultAgent } from '../compose/compose.ts'
import { type Finding, ok, problem } from './finding.ts'

export async function* checkAgent(config: Config): AsyncGenerator<Finding> {
  const name = agentName(config.agent)
  try {
    await openDefaultAgent(config)
    yield ok('agent', name)
  } catch (error) {
    yield problem(
      'agent',
      `${name}: ${reasonOf(error)}`,
      'Choose another with --agent or PARLEY_AGENT, or correct its file.',
    )
  }
}
