/** The key in the shell or the editor that somebody prompts from is the one that counts, whatever server runs already; and it is kept nowhere. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { type Run, endServers, killServer, parley, workIn } from './cli.ts'
import { freshDirectory, promptOf } from './parley.ts'
import { cleanUp, startRelay } from './relays.ts'
import { commandLines, filesBelow, leaksIn, newSentinels, secret } from './sentinels.ts'

endServers()
cleanUp()

let model: ModelServer
let key: string
beforeEach(async () => {
  newSentinels()
  key = secret('lent')
  model = await startModelServer(() => [{ text: 'Hello there.' }], { key })
})
afterEach(() => model.close())

const ASK = ['run', '--model', 'openai:scripted', 'hi']
const variables = () => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: `${model.url}/v1`, PARLEY_MODEL_TITLES: 'false' })

/** A server that was started by a shell without a key. */
async function served(): Promise<Run> {
  const run = { home: freshDirectory(), env: { PARLEY_MODEL_TITLES: 'false' } }
  expect(await parley(['run', '--agent', 'guide', 'hi'], run)).toMatchObject({ code: 0 })
  return run
}

function leaks({ home }: Run): readonly string[] {
  return [...filesBelow(home).flatMap(([, text]) => leaksIn(text)), ...leaksIn(commandLines())]
}

test('a command uses the key of its shell; one without a key says what to type', async () => {
  const run = await served()
  expect(await parley(ASK, { ...run, env: variables() })).toMatchObject({ code: 0, stdout: 'Hello there.\n' })
  const without = await parley(ASK, run)
  expect(without.stdout + without.stderr).toContain('export OPENAI_API_KEY=')
  expect([...leaks(run), ...leaksIn(without.stdout + without.stderr)]).toEqual([])
})

test('an agent is chosen by what the shell has: with a key it is the model', async () => {
  const run = await served()
  const lists = await parley(['run', '--json', 'hi'], { ...run, env: variables() })
  expect(lists.stdout).toContain('Hello there.')
})

test('an editor’s key counts through `parley acp`, also with the server after the next', async () => {
  const run = await served()
  const relay = startRelay(
    { home: run.home, cwd: workIn(run.home), agent: 'model:openai:scripted' },
    { env: variables() },
  )
  await relay.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { result } = await relay.request('session/new', { cwd: workIn(run.home), mcpServers: [] })
  const sessionId = String(result?.['sessionId'])
  expect(await relay.request('session/prompt', promptOf(sessionId, 'hi'))).toMatchObject({
    result: { stopReason: 'end_turn' },
  })
  killServer(run.home)
  // The first one may reach the server that dies.
  await relay.request('session/prompt', promptOf(sessionId, 'hi'))
  expect(await relay.request('session/prompt', promptOf(sessionId, 'hi'))).toMatchObject({
    result: { stopReason: 'end_turn' },
  })
  expect(leaks(run)).toEqual([])
  await relay.leave()
})
