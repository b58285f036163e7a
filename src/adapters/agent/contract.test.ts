/** Every agent that Parley has keeps the promises of its port. */
import { join } from 'node:path'
import { describe } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { agentContract } from '../../../test/contracts/agent.ts'
import { PuppetModel, modelsOf, says } from '../../../test/model/puppet-model.ts'
import type { House } from '../../../test/sim/house.ts'
import { openAgents } from './agents.ts'

const modes = { currentModeId: 'slow', availableModes: ['slow', 'fast'].map((id) => ({ id, name: id })) }
const directory = newDirectory({
  'other.jsonl': '{"end": "end_turn"}\n',
  'script.jsonl': `${JSON.stringify({ agent: { modes } })}\n{"chunk": "Hi."}\n`,
})
const other = `script:${join(directory, 'other.jsonl')}`

function agentsOf({ clock }: House, model = new PuppetModel()) {
  const options = { default: 'guide', clock, models: modelsOf(model), maxSteps: 3, titles: false }
  return openAgents({ ...options, promptDirectory: undefined })
}

describe('guide', () => {
  agentContract(async (house) => ({ agents: agentsOf(house), name: 'guide', other }))
})

describe('script', () => {
  const name = `script:${join(directory, 'script.jsonl')}`
  agentContract(async (house) => ({ agents: agentsOf(house), name, other }))
})

describe('model', () => {
  agentContract(async (house) => {
    const model = new PuppetModel()
    model.answers = [says('One.'), says('Two.')]
    return { agents: agentsOf(house, model), name: 'model', other }
  })
})

describe('the puppet of the tests', () => {
  agentContract(async ({ agents }) => {
    agents.named('script:/other')
    return { agents, name: 'puppet', other: 'script:/other' }
  })
})
