/** Search over the sessions of all nodes, at any of them: each has an index that follows the databases. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { endServers, parley } from '../e2e/cli.ts'
import { freshDirectory, promptOf, scriptAgent } from '../e2e/parley.ts'
import type { RawSocket } from '../e2e/raw-socket.ts'
import { type Environment, TestNode, openedBy } from './nodes.ts'
import { PostgresServer } from './server.ts'

endServers()

let server: PostgresServer
let env: Environment
let cwd: string

beforeAll(async () => {
  server = await PostgresServer.start()
  await server.query('CREATE DATABASE second')
})

afterAll(() => server.close())

beforeEach(async () => {
  // Two databases, so that sessions of both are found.
  env = { PARLEY_CLUSTER: `${server.url} ${server.urlOf('second')}`, PARLEY_CLUSTER_SCHEMA: server.schema() }
  cwd = freshDirectory()
  expect(await parley(['cluster', 'init'], { home: freshDirectory(), env })).toMatchObject({ code: 0 })
})

async function saidAt(
  node: TestNode,
  words: string,
): Promise<{ readonly client: RawSocket; readonly sessionId: string }> {
  const client = await node.client({ agent: await scriptAgent(freshDirectory(), [{ chunk: words }]) })
  const sessionId = await openedBy(client, cwd)
  await client.request('session/prompt', promptOf(sessionId, 'Speak'))
  return { client, sessionId }
}

async function found(client: RawSocket, query: string): Promise<unknown> {
  const { result, error } = await client.request('_parley/search', { query })
  if (error !== undefined) return error.data
  const { passages, behind } = result as { passages: { sessionId: string }[]; behind: number }
  return { sessions: passages.map(({ sessionId }) => sessionId).toSorted(), behind }
}

test('what was said at one node is found at the other as soon as it is stored, and what was deleted is not', async () => {
  const [one, two] = await Promise.all([TestNode.start('one', env), TestNode.start('two', env)])
  const bob = await two.client()
  // Its index has begun, and hears of all that follows from the databases.
  expect(await found(bob, 'heron')).toEqual({ sessions: [], behind: 0 })
  const made = []
  for (const bird of ['heron one', 'heron two', 'heron three', 'heron four']) made.push(await saidAt(one, bird))
  const ids = made.map(({ sessionId }) => sessionId).toSorted()
  expect(await found(bob, 'heron')).toEqual({ sessions: ids, behind: 0 })
  const [first] = made
  await first?.client.request('session/delete', { sessionId: first.sessionId })
  expect(await found(bob, 'heron')).toEqual({ sessions: ids.filter((id) => id !== first?.sessionId), behind: 0 })
  // Also without a server, on a machine that has no index yet.
  const command = await parley(['search', 'heron', '--json'], { home: freshDirectory(), env })
  expect(command.stdout.match(/"text":"heron \w+"/gu)).toHaveLength(3)
  await Promise.all([one.stop(), two.stop()])
})

test('while a database is away sessions cannot be searched; once it is back, they can', async () => {
  const one = await TestNode.start('one', env)
  const { client, sessionId } = await saidAt(one, 'A cormorant.')
  expect(await found(client, 'cormorant')).toEqual({ sessions: [sessionId], behind: 0 })
  await server.stop('SIGQUIT')
  expect(await found(client, 'cormorant')).toMatchObject({ code: 'CLUSTER_UNREACHABLE', retryable: true })
  await server.run()
  await expect.poll(() => found(client, 'cormorant')).toEqual({ sessions: [sessionId], behind: 0 })
})
