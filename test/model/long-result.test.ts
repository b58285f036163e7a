/** A long result of an MCP server, in the real binary: the model is given its beginning, and reads the rest where it ends. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { clientHere } from '../e2e/hosted-server.ts'
import { freshDirectory, newSession, promptOf } from '../e2e/parley.ts'
import { longContent } from '../fixtures/mcp/scripts.mjs'
import { messageLog } from '../fixtures/mcp/servers.ts'
import type { Asked, Saying } from '../model-server/script.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'

const program = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname
const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

/** Follows what each result says of how to read on, and nothing else. */
function reader({ messages }: Asked): readonly Saying[] {
  const results = messages.flatMap((message) => message.results)
  const last = results.at(-1)
  if (last === undefined) return [{ call: 'long__do', args: {} }]
  const [, id] = callToReadOn(results[0]?.text)
  const offset =
    results.length === 1 ? callToReadOn(last.text)[2] : /read on with offset=(\d+)\]$/u.exec(last.text)?.[1]
  if (offset === undefined) return [{ text: 'I have read it all.' }]
  return [{ call: 'read_result', args: { toolCallId: id, offset: Number(offset) } }]
}

function callToReadOn(text = ''): readonly string[] {
  return /Read on with read_result: toolCallId "([^"]+)", offset (\d+)\./u.exec(text) ?? []
}

async function turnWith(server: ModelServer): Promise<void> {
  const home = freshDirectory()
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  mkdirSync(join(home, 'config', 'parley'), { recursive: true })
  const models = 'models = [{ name = "scripted", context_window = 1000000 }]'
  const provider = `[providers.here]\nkind = "openai"\nurl = "${server.url}/v1"\nkey_env = "TEST_KEY"\n${models}\n`
  writeFileSync(join(home, 'config', 'parley', 'parley.toml'), provider)
  const env = { TEST_KEY: 'scripted', PARLEY_MODEL_TITLES: 'false' }
  const client = await clientHere({ home, agent: 'model:here:scripted', env })
  opened.push(
    () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }),
    () => client.kill(),
  )
  client.listen(({ id, method }) => {
    if (method === 'session/request_permission')
      client.reply(id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
  })
  const args = [program, 'asks the person and answers at length', messageLog().path]
  const session = await newSession(client, cwd, [{ name: 'long', command: process.execPath, args, env: [] }])
  const { result } = await client.request('session/prompt', promptOf(session, 'Read it all.'))
  expect(result).toMatchObject({ stopReason: 'end_turn' })
}

test('a model reads the whole of a long result, page by page [C7]', { timeout: 60_000 }, async () => {
  const server = await startModelServer(reader)
  opened.push(() => server.close())
  await turnWith(server)

  const texts = longContent().flatMap((one) => {
    if (one.type === 'text') return [one.text]
    return one.type === 'resource' && 'text' in one.resource ? [one.resource.text] : []
  })
  const whole = texts.join('\n')
  const [first = '', second = ''] = texts
  const results = (server.requests.at(-1)?.messages ?? []).flatMap((message) => message.results)
  const [brief = '', ...pages] = results.map(({ text }) => text)

  const remark = 'long asked to fill in a form, which this client does not offer. It was declined.'
  expect(brief).toContain(remark)
  const offset = Number(callToReadOn(brief)[2])
  expect(brief).toContain(first)
  expect(brief).toContain(`${whole.slice(first.length + 1, offset)}\n`)
  expect(brief).not.toContain(second.slice(0, offset - first.length))
  const read = pages.map((page) => page.replace(/\n\[Characters [^\n]*\]$/u, ''))
  expect(pages.length).toBeGreaterThan(5)
  expect(read.join('')).toBe(`${whole.slice(offset)}\n${remark}`)
})
