/** Every agent that Parley has keeps the promises of its port. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { agentContract } from '../../../test/contracts/agent.ts'
import { PuppetModel, modelsOf, says } from '../../../test/model/puppet-model.ts'
import type { House } from '../../../test/sim/house.ts'
import { openAgents } from './agents.ts'

let directory: string
let other: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-agent-contract-'))
  other = join(directory, 'other.jsonl')
  await writeFile(other, '{"end": "end_turn"}\n')
})

afterAll(() => rm(directory, { recursive: true, force: true }))

function agentsOf({ clock }: House, model = new PuppetModel()) {
  const options = { default: 'guide', clock, models: modelsOf(model), maxSteps: 3, titles: false }
  return openAgents({ ...options, promptDirectory: undefined })
}

describe('guide', () => {
  agentContract(async (house) => ({ agents: agentsOf(house), name: 'guide', other: `script:${other}` }))
})

describe('script', () => {
  agentContract(async (house) => {
    const path = join(directory, 'script.jsonl')
    const modes = { currentModeId: 'slow', availableModes: ['slow', 'fast'].map((id) => ({ id, name: id })) }
    await writeFile(path, [{ agent: { modes } }, { chunk: 'Hi.' }].map((line) => `${JSON.stringify(line)}\n`).join(''))
    return { agents: agentsOf(house), name: `script:${path}`, other: `script:${other}` }
  })
})

describe('model', () => {
  agentContract(async (house) => {
    const model = new PuppetModel()
    model.answers = [says('One.'), says('Two.')]
    return { agents: agentsOf(house, model), name: 'model', other: `script:${other}` }
  })
})

describe('the puppet of the tests', () => {
  agentContract(async ({ agents }) => {
    agents.named('script:/other')
    return { agents, name: 'puppet', other: 'script:/other' }
  })
})
