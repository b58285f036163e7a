/** A cancel reaches the model's stream and the tools before anything else is done, and what was said stays. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { runs, until } from '../fixtures/process/running.ts'
import { updatesIn } from '../e2e/message.ts'
import { freshDirectory, initialize, newSession, promptOf, startParley } from '../e2e/parley.ts'
import type { Script } from '../model-server/script.ts'
import { startModelServer } from '../model-server/server.ts'

const LIMIT = { timeout: 60_000 }
const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function staged(script: Script) {
  const server = await startModelServer(script)
  const directory = freshDirectory()
  const cwd = join(directory, 'work')
  mkdirSync(cwd)
  const env = { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${server.url}/v1`, PARLEY_MODEL_TITLES: 'false' }
  const client = startParley({ home: join(directory, 'home'), agent: 'model:openai:scripted', env })
  opened.push(
    () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
    () => server.close(),
    () => client.kill(),
  )
  await initialize(client)
  const sessionId = await newSession(client, cwd)
  await client.request('session/set_mode', { sessionId, modeId: 'allow-all' })
  const prompt = async () => (await client.request('session/prompt', promptOf(sessionId, 'go'))).result
  const cancel = () => client.notify('session/cancel', { sessionId })
  const log = () => (existsSync(join(cwd, 'log')) ? readFileSync(join(cwd, 'log'), 'utf8').split('\n') : [])
  return { server, client, prompt, cancel, log }
}

const cancelled = expect.objectContaining({ stopReason: 'cancelled' })

test(
  'the cancel closes the stream: nothing more of it is sent, and the model is asked nothing more',
  LIMIT,
  async () => {
    const { server, client, prompt, cancel } = await staged([
      [{ text: 'Half a ' }, { silence: true }],
      [{ text: 'Whole.' }],
    ])
    const ended = prompt()
    await client.until((message) => JSON.stringify(message).includes('Half a'))
    const told = client.received.length
    cancel()
    // It would stay open for ever: only the cancel can have closed it, and nobody waits for the end of the turn here.
    await server.quiet()
    expect(server.requests).toHaveLength(1)
    expect(await ended).toEqual(cancelled)
    const later = updatesIn(client.received.slice(told)).map(({ update }) => update.sessionUpdate)
    expect(later.filter((kind) => kind.includes('chunk') || kind.startsWith('tool_call'))).toEqual([])
    await prompt()
    expect(server.requests[1]?.messages.map(({ role, text }) => `${role} ${text}`)[1]).toBe('assistant Half a ')
  },
)

test('the cancel ends the command: the next call does not run, and no step follows', LIMIT, async () => {
  // It has a moment to end by itself, too short on a busy machine for words about it.
  const waits = 'echo $$ >> log; sleep 1000'
  const { server, client, prompt, cancel, log } = await staged([
    [
      { text: 'I run both.' },
      { call: 'run_command', args: { command: waits } },
      { call: 'run_command', args: { command: 'echo second >> log' } },
    ],
    [{ text: 'Whole.' }],
  ])
  const ended = prompt()
  await until(() => log().length > 1)
  const [pid] = log()
  cancel()
  expect(await ended).toEqual(cancelled)
  await until(() => !runs(Number(pid)))
  expect(server.requests).toHaveLength(1)
  expect(JSON.stringify(client.received)).toContain('I run both.')
  await prompt()
  expect(log()).toEqual([pid, ''])
  const next = server.requests[1]?.messages ?? []
  expect(next[1]).toMatchObject({ role: 'assistant', text: 'I run both.' })
  expect(next.flatMap(({ results }) => results.map(({ text }) => text))).toEqual([
    // On a busy machine the cancel may overtake the news that the command has started.
    expect.stringMatching(/It was cancelled and stopped|it was cancelled as it started, and stopped/u),
    'Cancelled. The tool was not run.',
  ])
})
