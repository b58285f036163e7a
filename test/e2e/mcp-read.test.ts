/** What MCP servers offer to be read reaches the agent through two tools of our own, with the real server. */
import { expect, test } from 'vitest'
import { messageLog } from '../fixtures/mcp/servers.ts'
import { serveHere } from './hosted-server.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith } from './server.ts'

cleanUpServers()

const program = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname

async function turnOf(calls: readonly object[]) {
  const place = await placeWith([...calls.map((toolCall) => ({ toolCall })), { end: 'end_turn' }])
  await serveHere(place)
  const ada = await RawSocket.open(place.socket, { agent: place.agent })
  const args = [program, 'tells of resources that were read', messageLog().path]
  const id = await openSession(ada, place, [{ name: 's', command: process.execPath, args, env: [] }])
  return { ada, id, ended: ada.request('session/prompt', promptOf(id, 'go')) }
}

function resultsIn(ada: RawSocket): string {
  return ada.received
    .flatMap(({ params }) => {
      const { update } = (params ?? {}) as {
        readonly update?: { readonly status?: string; readonly content?: unknown }
      }
      return update?.status === 'completed' ? [JSON.stringify(update.content)] : []
    })
    .join('\n')
}

test.concurrent('it is listed and read unasked, and the list says what has changed since', async () => {
  const { ada, ended } = await turnOf([
    { name: 'list_resources', arguments: {} },
    { name: 'read_resource', arguments: { uri: 'test://one' } },
    { name: 's__do' },
    { name: 'list_resources', arguments: { query: 'ONE' } },
  ])
  expect((await ended).result).toMatchObject({ stopReason: 'end_turn' })
  const said = resultsIn(ada)
  expect(said).toContain(String.raw`- s: test://one — one\n- s: test://two — two`)
  expect(said).toContain('"resource":{"uri":"test://one","text":"words"}')
  expect(said).toContain('- s: test://one — one [changed since it was read]"')
})

test.concurrent('what no list has is asked about first, for its address tells its server something [C8]', async () => {
  const { ada, ended } = await turnOf([
    { name: 'read_resource', arguments: { uri: 'test://x?secret=1', server: 's' }, ask: true },
  ])
  const question = await ada.until(({ method }) => method === 'session/request_permission')
  expect(question.params).toMatchObject({ toolCall: { title: 'Read test://x?secret=1 (s)', kind: 'fetch' } })
  ada.send({ id: question.id, result: { outcome: { outcome: 'selected', optionId: 'reject_once' } } })
  await ended
  expect(resultsIn(ada)).toBe('')
})

test.concurrent('a server that is not there, and a resource that is gone, are told in words', async () => {
  const { ada, ended } = await turnOf([
    { name: 'read_resource', arguments: { uri: 'test://gone', server: 's' } },
    { name: 'read_resource', arguments: { uri: 'test://one', server: 'none' } },
  ])
  await ended
  const said = JSON.stringify(ada.received)
  expect(said).toContain('not found')
  expect(said).toMatch(/There is no MCP server .{2,4}none.{2,4}\. There are: /)
})
