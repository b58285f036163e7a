/** An external agent keeps the promises that every agent keeps. */
import { afterEach, describe } from 'vitest'
import { agentContract } from '../contracts/agent.ts'
import { Stage } from './stage.ts'

describe('an external agent', () => {
  const stages: Stage[] = []

  afterEach(async () => {
    for (const stage of stages.splice(0)) await stage[Symbol.asyncDispose]()
  })

  agentContract(async () => {
    const stage = new Stage()
    stages.push(stage)
    const modes = { currentModeId: 'slow', availableModes: ['slow', 'fast'].map((id) => ({ id, name: id })) }
    stage.fake({ settings: { modes }, prompts: { '/help': [{ chunk: 'Hi.' }] } })
    stage.fake({}, { name: 'other' })
    return { agents: stage.agents, name: 'acp:fake', other: 'acp:other', cwd: stage.directory }
  })
})
