/** Questions of the model agent: a restart waits for one, and never is kept, listed and taken back. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { serveHere } from '../e2e/hosted-server.ts'
import { jsonLines, parley } from '../e2e/cli.ts'
import type { Fields, Message } from '../e2e/message.ts'
import { promptOf } from '../e2e/parley.ts'
import { RawSocket } from '../e2e/raw-socket.ts'
import { type Place, cleanUpServers, deaf, openSession, placeWith, serve } from '../e2e/server.ts'
import { startModelServer } from '../model-server/server.ts'

cleanUpServers()

const LIMIT = { timeout: 120_000 }
const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

/** For every prompt the model calls for one command, and says what became of it. */
async function given() {
  const model = await startModelServer(({ messages }) => {
    const [result] = messages.at(-1)?.results ?? []
    if (result !== undefined) return [{ text: `It said: ${result.text}` }]
    return [{ call: 'run_command', args: { command: 'echo ran | tee -a log' } }]
  })
  opened.push(() => model.close())
  const place: Place = { ...(await placeWith()), agent: 'model:openai:scripted' }
  const env = { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${model.url}/v1`, PARLEY_MODEL_TITLES: 'false' }
  const ran = () => {
    const log = join(place.cwd, 'log')
    return existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0
  }
  return { model, place, env, ran, client: () => RawSocket.open(place.socket) }
}

function question(client: RawSocket, from = 0): Promise<Message> {
  const isNew = (message: Message) => client.received.indexOf(message) >= from
  return client.until((message) => message.method === 'session/request_permission' && isNew(message))
}

function answer(client: RawSocket, { id }: Message, optionId: string): void {
  client.send({ id, result: { outcome: { outcome: 'selected', optionId } } })
}

function said(client: RawSocket, from = 0): string {
  const updates = client.received.slice(from).map(({ params }) => params?.['update'] as Fields | undefined)
  const chunks = updates.filter((update) => update?.['sessionUpdate'] === 'agent_message_chunk')
  return chunks.map((update) => String((update?.['content'] as Fields | undefined)?.['text'])).join('')
}

test('a question waits through kill -9, and never, once said, holds until it is taken back', LIMIT, async () => {
  const { model, place, env, ran, client } = await given()
  const first = await serve(place, env)
  const before = await client()
  const sessionId = await openSession(before, place)
  before.ask('session/prompt', promptOf(sessionId, 'go'))
  const open = await question(before)
  expect((open.params?.['options'] as Fields[] | undefined)?.map(({ kind }) => kind)).toEqual([
    'allow_once',
    'allow_always',
    'reject_once',
    'reject_always',
  ])
  first.child.kill('SIGKILL')
  await deaf(place.socket)
  await serveHere({ ...place, env })
  const after = await client()
  await after.request('session/load', { sessionId, cwd: place.cwd, mcpServers: [] })
  answer(after, await question(after), 'reject_always')
  await after.until(() => said(after).endsWith('Not allowed. The tool was not run.'))
  expect(model.requests).toHaveLength(2)

  const refused = await prompted(after, sessionId)
  expect(refused).toContain('the user has said never, for this session')
  const listed = jsonLines((await parley(['rules', 'ls', '--json', '--session', sessionId], place)).stdout)
  expect(listed).toMatchObject([{ effect: 'deny', from: 'session', subject: { tool: 'run_command' } }])
  const taken = await parley(['rules', 'rm', String(listed[0]?.['id']), '--session', sessionId], place)
  expect(taken).toMatchObject({ code: 0 })
  expect(await prompted(after, sessionId, 'allow_once')).toContain('It said: ran')
  expect(ran()).toBe(1)
})

/** What is said in answer to one prompt; a question is answered with `optionId`, or must not come. */
async function prompted(client: RawSocket, sessionId: string, optionId?: string): Promise<string> {
  const from = client.received.length
  const turn = client.ask('session/prompt', promptOf(sessionId, 'go'))
  if (optionId !== undefined) answer(client, await question(client, from), optionId)
  await client.answerTo(turn)
  expect(client.received.slice(from).filter(({ method }) => method === 'session/request_permission')).toHaveLength(
    optionId === undefined ? 0 : 1,
  )
  return said(client, from)
}
