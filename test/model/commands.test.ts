/** Commands of a model on the real binary: what destroys is asked about in every mode, and what runs on ends with its owner. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { runs as isRunning } from '../fixtures/process/running.ts'
import type { Fields } from '../e2e/message.ts'
import { freshDirectory, initialize, newSession, promptOf, startParley } from '../e2e/parley.ts'
import type { Asked, Saying, Script } from '../model-server/script.ts'
import { startModelServer } from '../model-server/server.ts'
import { until } from './given.ts'

const LIMIT = { timeout: 60_000 }
const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function given(script: Script) {
  const server = await startModelServer(script)
  const home = freshDirectory()
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${server.url}/v1`, PARLEY_MODEL_TITLES: 'false' }
  const client = startParley({ home, agent: 'model:openai:scripted', env })
  opened.push(
    () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }),
    () => server.close(),
    () => client.kill(),
  )
  const asked: string[] = []
  client.listen(({ id, method, params }) => {
    if (method !== 'session/request_permission') return
    const call = params?.['toolCall'] as Fields | undefined
    asked.push(String(call?.['title']))
    client.reply(id, { outcome: { outcome: 'selected', optionId: 'reject_once' } })
  })
  await initialize(client)
  const sessionId = await newSession(client, cwd)
  await client.request('session/set_mode', { sessionId, modeId: 'allow-all' })
  const says = (words: string) => client.request('session/prompt', promptOf(sessionId, words))
  return { server, client, cwd, asked, says }
}

const runs = (command: string, more: Fields = {}): Saying => ({ call: 'run_command', args: { command, ...more } })

test('where all is allowed, what destroys is asked about and nothing else', LIMIT, async () => {
  const [asks, free] = [
    [
      'rm a.txt',
      'find . -name a.txt -delete',
      `sh -c 'rm "a.txt"'`,
      '> a.txt',
      'git reset --keep HEAD',
      'X=rm; $X a.txt',
    ],
    ['cat a.txt', 'echo "rm a.txt"', "cat <<'EOF'\nrm a.txt\nEOF", 'echo more >> b.txt'],
  ]
  const { asked, cwd, says } = await given([[...asks, ...free].map((line) => runs(line)), [{ text: 'Done.' }]])
  writeFileSync(join(cwd, 'a.txt'), 'keep me')
  expect(await says('go')).toMatchObject({ result: { stopReason: 'end_turn' } })
  expect(asked).toEqual(asks.map((line) => `Run ${line}`))
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('keep me')
  expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('more\n')
})

test('a command in the background is read in a later turn, and is gone with its server', LIMIT, async () => {
  // Its words stand in no line that is told of it.
  const line = `echo $$ >> pid; printf 'be%s' gun; while [ ! -e go ]; do sleep 0.05; done; printf 'gone %s' on; sleep 1000`
  const place = await given(({ messages }: Asked): readonly Saying[] => {
    const last = messages.at(-1)
    if (last?.role !== 'user') return [{ text: 'Done.' }]
    if (last.text.includes('start')) return [runs(line, { background: true })]
    return [{ call: 'command_output', args: { id: 'b1', wait: 1 } }]
  })
  const output = () => place.server.requests.at(-1)?.messages.at(-1)?.results[0]?.text ?? ''
  await place.says('start')
  expect(output()).toContain('in the background as b1')
  await until(() => existsSync(join(place.cwd, 'pid')))
  writeFileSync(join(place.cwd, 'go'), '')
  let said = ''
  while (!said.includes('gone on')) {
    await place.says('read')
    said += output()
  }
  expect(said.split('begun')).toHaveLength(2)
  const pid = Number(readFileSync(join(place.cwd, 'pid'), 'utf8'))
  expect(isRunning(pid)).toBe(true)
  await place.client.kill()
  await until(() => !isRunning(pid))
})
