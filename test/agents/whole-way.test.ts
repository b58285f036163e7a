/** An external agent behind the real program: a prompt from the terminal, a server that is killed, and what is left of it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Cli, endServers, killServer, parley } from '../e2e/cli.ts'

import { freshDirectory } from '../e2e/parley.ts'
import { FakeAgent } from '../fake-agent/fake-agent.ts'
import { until } from '../fixtures/process/running.ts'

endServers()

function agentIn(home: string, plan: ConstructorParameters<typeof FakeAgent>[1]): FakeAgent {
  const fake = new FakeAgent(join(home, 'fake'), plan)
  const directory = join(home, 'config', 'parley')
  mkdirSync(directory, { recursive: true })
  const lines = ['[agents.fake]', `command = ${JSON.stringify(fake.command)}`, `args = ${JSON.stringify(fake.args)}`]
  writeFileSync(join(directory, 'parley.toml'), `${lines.join('\n')}\n`)
  return fake
}

test('a prompt whose server is killed half way keeps what was seen; no agent is left, and the next prompt answers', async () => {
  const home = freshDirectory()
  const slow = [{ repeat: 30, moves: [{ chunk: 'word{n} ' }] }, { mark: 'half' }, { silent: true as const }]
  const fake = agentIn(home, { capabilities: { loadSession: true }, prompts: { work: slow } })
  const first = new Cli(['run', '--agent', 'fake', 'work'], { home })
  await until(() => first.stdout.includes('word30'))
  killServer(home)
  const { code } = await first.finished
  expect(code).toBe(75)
  await until(() => fake.processes.length === 0)
  const { stdout: list } = await parley(['ls', '--json'], { home })
  const { sessionId } = JSON.parse(list.trim().split('\n')[0] ?? '{}') as { readonly sessionId: string }
  const shown = await parley(['show', sessionId], { home })
  expect(shown.stdout).toContain('word1 word2')
  expect(shown.stdout).toContain('word30')
  expect(shown.stdout).toContain('Interrupted')
  const next = await parley(['run', '--session', sessionId, 'go on'], { home })
  expect(next.stdout).toContain('echo: go on')
  expect(fake.prompts).toEqual(['work', 'go on'])
  expect(fake.received('session/load')).toHaveLength(1)
})
