/** On which node a session is made, and which one goes on with it: nodes say which directories they serve, and have labels. */
import { join } from 'node:path'
import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endServers, parley } from '../e2e/cli.ts'
import { freshDirectory, promptOf, scriptAgent } from '../e2e/parley.ts'
import { type Environment, TestNode, openedBy } from './nodes.ts'
import { PostgresServer } from './server.ts'

endServers()

let server: PostgresServer
let env: Environment

beforeAll(async () => {
  server = await PostgresServer.start()
  env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: server.schema() }
  expect(await parley(['cluster', 'init'], { home: freshDirectory(), env })).toMatchObject({ code: 0 })
})

afterAll(() => server.close())

async function ownerOf(sessionId: string): Promise<unknown> {
  const schema = env['PARLEY_CLUSTER_SCHEMA'] ?? ''
  const sql = `SELECT n.record FROM ${schema}.session s JOIN ${schema}.node n ON n.boot = s.boot AND NOT n.dead WHERE s.id = $1`
  const [row] = await server.query(sql, [sessionId])
  return row && (JSON.parse(String(row['record'])) as { readonly name: string }).name
}

test('a session is made on a node that serves its directory and has what it asks for, and stays with such nodes', async () => {
  const root = freshDirectory()
  const [web, models] = [join(root, 'web'), join(root, 'models')]
  for (const directory of [web, models]) mkdirSync(directory)
  const agent = await scriptAgent(root, [{ chunk: 'Done.' }])
  const serving = (name: string, serves: string, labels: string) =>
    TestNode.start(name, { ...env, PARLEY_CLUSTER_SERVES: serves, PARLEY_CLUSTER_LABELS: labels })
  const one = await serving('one', web, 'os=linux')
  const [two, three] = [await serving('two', models, 'gpu=yes'), await serving('three', models, 'gpu=no')]
  const ada = await one.client({ agent })
  const refusal = async (cwd: string, _meta: object) =>
    (await ada.request('session/new', { cwd, mcpServers: [], _meta })).error

  // The client's own node serves it.
  expect(await ownerOf(await openedBy(ada, web))).toBe('one')
  const made = await openedBy(ada, models, { 'parley/labels': { gpu: 'yes' } })
  expect(await ownerOf(made)).toBe('two')
  expect(await ownerOf(await openedBy(ada, models, { 'parley/node': 'three' }))).toBe('three')
  expect((await ada.request('session/prompt', promptOf(made, 'Go'))).result).toEqual({ stopReason: 'end_turn' })

  expect(await refusal(root, {})).toMatchObject({
    message: expect.stringContaining(`serves ${root}.`) as string,
    data: { code: 'NO_NODE_SERVES', cwd: root },
  })
  const wish = { 'parley/node': 'one', 'parley/labels': { gpu: 'yes' } }
  expect(await refusal(web, wish)).toMatchObject({ data: { code: 'NO_NODE_SERVES' } })
  const status = await parley(['cluster', 'status'], one.run)
  expect(status.stdout).toMatch(new RegExp(`^two .* ${models} gpu=yes  `, 'mu'))

  // Its node is gone: another one that serves the directory goes on with it, though its client is at one that does not.
  await two.kill()
  const first = await ada.request('session/prompt', promptOf(made, 'On'))
  // One that was still sent to the node that is gone is interrupted, and typed again (docs/cluster.md).
  const isSentAgain = first.error?.data?.['code'] === 'TURN_INTERRUPTED'
  const last = isSentAgain ? await ada.request('session/prompt', promptOf(made, 'On')) : first
  expect(last.result).toEqual({ stopReason: 'end_turn' })
  expect(await ownerOf(made)).toBe('three')
  // Where no node is left that serves it, it can be read.
  await three.stop()
  await ada.request('session/close', { sessionId: made })
  expect((await ada.request('session/load', { sessionId: made, cwd: models, mcpServers: [] })).error).toBeUndefined()
})
