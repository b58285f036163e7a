import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { KnownKey } from '../../src/docs-search/keys/keys.ts'
import { hashOf } from '../../src/credentials/secret.ts'
import {
  closeAfterEach,
  directoryWith,
  found,
  INITIALIZE,
  messagesOf,
  opened,
  raw,
  RawSession,
  search,
  serve,
  write,
} from './served.ts'

closeAfterEach()

const CI = 'a-key-for-the-notes-only'
const ci = (collections: KnownKey['collections']): KnownKey => ({ name: 'ci', sha256: hashOf(CI), collections })

async function notesAndSecrets(keys: readonly KnownKey[] = [ci(['notes'])]) {
  const parent = await directoryWith({ 'notes/a.md': '# Notes\n\nalpha', 'secrets/b.md': '# Secrets\n\nalpha' })
  const directories = [join(parent, 'notes'), join(parent, 'secrets')]
  return serve({}, { directories, namedKeys: keys })
}

test.concurrent('a key opens its collections, and shows nothing of the others', async () => {
  const { server } = await notesAndSecrets()
  const session = await RawSession.open(server, CI)
  const everything = await RawSession.open(server)
  await found(everything, 'alpha', ['a.md', 'b.md'])
  await found(session, 'alpha', ['a.md'])
  const secret = (await search(everything, { query: 'secrets' })).results[0]?.uri ?? ''
  expect(secret).toMatch(/^doc:\/\/secrets\/b\.md/)
  for (const [tool, args] of [
    ['read_document', { uri: secret }],
    ['outline', { uri: secret }],
    ['search_documents', { query: 'alpha', scope: ['secrets'] }],
    ['list_documents', { scope: 'secrets' }],
  ] as const) {
    expect([tool, await session.call(tool, args)]).toMatchObject([tool, { isError: true }])
  }
  expect(JSON.stringify(await session.request('tools/list'))).not.toContain('secrets')
  expect(await session.request('resources/list')).toMatchObject({ resources: [{ uri: 'doc://notes/a.md' }] })
  expect(await session.request('resources/read', { uri: secret })).toMatchObject({ code: -32602 })
  const { structuredContent } = await session.call('MinDocGlobalSearch', { keyword: 'alpha' })
  expect(structuredContent).toMatchObject({ totalCount: 1, result: [{ book_name: 'notes' }] })
})

test.concurrent('a key hears nothing of documents that it does not open', async () => {
  const parent = await directoryWith({ 'notes/a.md': 'alpha', 'secrets/b.md': 'alpha' })
  const directories = [join(parent, 'notes'), join(parent, 'secrets')]
  const { server } = await serve({}, { directories, namedKeys: [ci(['notes'])] })
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const notifications = { resourceSubscriptions: ['doc://secrets/b.md', 'doc://notes/a.md'] }
  const stream = await opened(server, {
    path: '/mcp',
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-API-Key': CI,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'subscriptions/listen',
    },
    body: { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications, _meta } },
  })
  const heard = messagesOf(stream)
  expect(JSON.parse(String((await heard.next()).value))).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
  })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['a.md', 'b.md'])
  await write(parent, { 'secrets/b.md': 'changed' })
  await found(session, 'changed', ['b.md'])
  await write(parent, { 'notes/a.md': 'changed' })
  expect(JSON.parse(String((await heard.next()).value))).toMatchObject({
    method: 'notifications/resources/updated',
    params: { uri: 'doc://notes/a.md' },
  })
  await heard.return(undefined)
})

test.concurrent('a key that is taken away opens nothing any more: not a new session, not the one it has, not its stream', async () => {
  const { server } = await notesAndSecrets()
  const session = await RawSession.open(server, CI)
  const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': session.id }
  const stream = await opened(server, { path: session.path, method: 'GET', headers })
  const ended = new Promise((resolve) => stream.on('end', resolve).resume())
  await server.setKeys([])
  await ended
  expect((await raw(server, { path: session.path, body: INITIALIZE })).status).toBe(401)
  expect((await session.send({ jsonrpc: '2.0', id: 5, method: 'ping' })).status).toBe(401)
})

test.concurrent('a key that opens something else now has to open a new session', async () => {
  const { server } = await notesAndSecrets()
  const before = await RawSession.open(server, CI)
  await server.setKeys([ci(['secrets'])])
  expect((await before.send({ jsonrpc: '2.0', id: 5, method: 'ping' })).status).toBe(404)
  await found(await RawSession.open(server, CI), 'alpha', ['b.md'])
})

test.concurrent('plain HTTP is for this machine; elsewhere it takes TLS or a word of consent', async () => {
  for (const host of ['0.0.0.0', '127.0.0.1.example.org'])
    await expect(serve({ 'a.md': 'a' }, { host })).rejects.toMatchObject({ code: 'DOCS_PLAIN_HTTP' })
  await expect(serve({ 'a.md': 'a' }, { tls: { cert: 'no', key: 'no' } })).rejects.toMatchObject({ code: 'DOCS_TLS' })
  const pem = (name: string) => readFile(new URL(`../fixtures/docs-search/localhost.${name}.pem`, import.meta.url))
  const tls = { cert: await pem('cert'), key: await pem('key') }
  const { server } = await serve({ 'a.md': 'a' }, { host: '0.0.0.0', tls })
  expect(server.url).toMatch(/^https:/)
  const where = { host: 'localhost', port: server.port, path: '/mcp', ca: tls.cert, agent: false }
  const status = await new Promise((resolve, reject) => {
    request(where, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end()
  })
  expect(status).toBe(401)
})
