/** Nodes that reach each other over TLS, and a client of one whose files the agent of another reads. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endServers, parley } from '../e2e/cli.ts'
import { freshDirectory, promptOf, scriptAgent } from '../e2e/parley.ts'
import { type Environment, TestNode, openedBy, said } from './nodes.ts'
import { PostgresServer } from './server.ts'

endServers()

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.close())

/** A certificate that signs itself, and its key. */
function certificate(): { readonly pem: string; readonly key: string } {
  const directory = freshDirectory()
  const [pem, key] = [join(directory, 'node.pem'), join(directory, 'node.key')]
  const names = ['-subj', '/CN=node', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', pem, ...names], { stdio: 'ignore' })
  return { pem, key }
}

test('over TLS a client of one node lends its files to the agent of another', async () => {
  const env = { PARLEY_CLUSTER: server.url, PARLEY_CLUSTER_SCHEMA: server.schema() }
  await parley(['cluster', 'init'], { home: freshDirectory(), env })
  const { pem, key } = certificate()
  const tls = ['--tls-cert', pem, '--tls-key', key]
  const trusting: Environment = { ...env, NODE_EXTRA_CA_CERTS: pem }
  const cwd = freshDirectory()
  const agent = await scriptAgent(freshDirectory(), [{ readFile: { path: join(cwd, 'lent.txt') } }])
  const one = await TestNode.start('one', trusting, tls)
  const two = await TestNode.start('two', trusting, tls)

  const maker = await one.client({ agent })
  const sessionId = await openedBy(maker, cwd)
  const lender = await two.client({ capabilities: { fs: { readTextFile: true } } })
  await lender.request('session/load', { sessionId, cwd, mcpServers: [] })
  lender.listen(({ id, method }) => {
    if (method === 'fs/read_text_file') lender.reply(id, { content: 'what only the client has' })
  })
  const { result } = await lender.request('session/prompt', promptOf(sessionId, 'Read it'))
  expect(result).toEqual({ stopReason: 'end_turn' })
  expect(said(lender.received, sessionId)).toBe('what only the client has')
  const listed = await parley(['cluster', 'status', '--json'], one.run)
  expect(listed.stdout.match(/wss:/gu)).toHaveLength(2)
  for (const client of [maker, lender]) await client.leave()
})
