/** JSON that is nested deeper than any program writes it, at every door: it costs the request that it came with, and nothing else. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, describe, expect, test } from 'vitest'
import { isNestedDeeper } from '../../src/text/nesting.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import type { Fields } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpSharedServers, logOf, openSession, placeWith, serve, start } from './server.ts'

cleanUpSharedServers()
const children = new PerTest<ChildProcess>(async (opened) => {
  for (const child of opened) child.kill('SIGKILL')
})
children.closeAfterAll()

/** One for all, each client of which names the script that it plays. */
let server: Place
beforeAll(async () => {
  server = await placeWith()
  await serve(server)
})

const program = new URL('../fixtures/mcp/deep-server.mjs', import.meta.url).pathname
const places = [
  'structured',
  'part',
  'meta',
  'error',
  'notification',
  'question',
  'schema',
  'list',
  'resource',
  'prompt',
]
/** What clients read that refuse deeper lines; what Parley stores and reads again; what no stack holds. */
const depths = [200, 5_000, 200_000]
/** What no server may say: it is refused as it is read, before anything looks at where it is. */
const TOO_DEEP = 1_000

async function serverOver(way: 'stdio' | 'json' | 'sse', args: readonly string[]): Promise<Fields> {
  if (way === 'stdio') return { name: 'deep', command: process.execPath, args: [program, ...args], env: [] }
  const child = spawn(process.execPath, [program, ...args, way], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return { type: 'http', name: 'deep', url: `http://127.0.0.1:${Number(port)}/mcp`, headers: [] }
}

describe.each(['stdio', 'json', 'sse'] as const)('an MCP server over %s', (way) => {
  test.concurrent.each(way === 'stdio' ? depths : [200_000])('with %i levels, wherever they are', async (levels) => {
    const place = await placeWith([{ toolCall: { name: 'deep__do', arguments: {} } }, { end: 'end_turn' }])
    const client = await RawSocket.open(server.socket, {
      agent: place.agent,
      capabilities: { elicitation: { form: {} } },
    })
    client.listen(({ id, method }) => {
      if (method === 'elicitation/create') client.reply(id, { action: 'decline' })
    })
    const ends: unknown[] = []
    const tried = levels > TOO_DEEP ? ['structured', 'list'] : places
    for (const where of tried) {
      const session = await openSession(client, place, [await serverOver(way, [String(levels), where])])
      const { result, error } = await client.request('session/prompt', promptOf(session, 'go'))
      ends.push(result?.['stopReason'] ?? error?.message)
    }
    expect(ends).toEqual(tried.map(() => 'end_turn'))
    const told = JSON.stringify(client.received) + logOf(server)
    expect(told.match(/[^".]*call stack[^".]*/u)).toBeNull()
    expect(client.received.filter((message) => isNestedDeeper(message, 127))).toEqual([])
    if (way === 'stdio' && levels > TOO_DEEP)
      expect(JSON.stringify(client.received)).toContain(
        'The result of tool deep__do was lost: MCP server deep answered with JSON that is nested more than 1000 levels deep',
      )
  })
})

describe.each(depths)('%i levels', (levels) => {
  const deep = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const line = (rest: string) => `{"jsonrpc":"2.0",${rest}}\n`

  test.concurrent('from a client: each request has its one answer, and the connection stays', async () => {
    const place = await placeWith([{ permission: { title: 'May I?' } }, { chunk: 'done' }])
    const client = await RawSocket.open(server.socket, { agent: place.agent })
    const session = await openSession(client, place)
    const methods = [
      'session/new',
      'session/prompt',
      'session/list',
      'authenticate',
      '_parley/search',
      '_parley/import',
    ]
    const asked = [...methods, '_parley/complete', 'no/such']
    for (const [at, method] of asked.entries())
      client.socket.write(
        line(`"id":"m${at}","method":"${method}","params":{"sessionId":"${session}","query":${deep},"_meta":${deep}}`),
      )
    client.socket.write(
      line(`"method":"session/cancel","params":${deep}`) + line(`"method":"no/such","params":${deep}`),
    )
    const answers = await Promise.all(asked.map((_, at) => client.answerTo(`m${at}`)))
    expect(answers.filter(({ error }) => error === undefined)).toEqual([])
    const ended = client.request('session/prompt', promptOf(session, 'go'))
    const question = await client.until(({ method }) => method === 'session/request_permission')
    client.socket.write(line(`"id":${JSON.stringify(question.id)},"result":{"outcome":${deep}}`))
    expect((await ended).result).toBeDefined()
    expect(JSON.stringify(client.received) + logOf(server)).not.toContain('call stack')
  })

  test.concurrent('from an editor through the relay, and as arguments that a person types', async () => {
    const editor = start({ ...server, agent: 'guide' }, ['acp'])
    const say = (rest: string) => editor.child.stdin.write(line(rest))
    say('"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}')
    say(`"id":1,"method":"no/such","params":${deep}`)
    say(`"id":2,"method":"session/new","params":{"cwd":${JSON.stringify(server.cwd)},"mcpServers":[]}`)
    const opened = () => /"sessionId":"([^"]+)"/u.exec(editor.stdout)
    await editor.untilSo(() => opened() !== null, 'sessionId')
    const session = opened()?.[1]
    const typed = JSON.stringify(`/call plan ${deep}`)
    say(
      `"id":3,"method":"session/prompt","params":{"sessionId":"${session}","prompt":[{"type":"text","text":${typed}}]}`,
    )
    await editor.until('"stopReason"')
    editor.child.stdin.end()
    expect((await editor.finished).code).toBe(0)
    expect(editor.stdout + editor.stderr + logOf(server)).not.toContain('call stack')
  })
})
