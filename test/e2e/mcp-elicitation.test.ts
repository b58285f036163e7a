/** What an MCP server asks of a person reaches the client whose prompt it works for, through the real server, and nobody else. */
import { expect, test } from 'vitest'
import { messageLog } from '../fixtures/mcp/servers.ts'
import { serveHere } from './hosted-server.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith } from './server.ts'
import { promptOf } from './parley.ts'

cleanUpServers()

const program = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname
const capabilities = { elicitation: { form: {}, url: {} } }
const isAsked = ({ method }: { readonly method?: unknown }) => method === 'elicitation/create'

async function companyOf(script: string, args: Readonly<Record<string, unknown>>) {
  const place = await placeWith([{ toolCall: { name: 'asker__do', arguments: args } }, { end: 'end_turn' }])
  await serveHere(place)
  const ada = await RawSocket.open(place.socket, { agent: place.agent, capabilities })
  const bob = await RawSocket.open(place.socket, { agent: place.agent, capabilities })
  const asker = { name: 'asker', command: process.execPath, args: [program, script, messageLog().path], env: [] }
  const id = await openSession(ada, place, [asker])
  await bob.request('session/load', { sessionId: id, cwd: place.cwd, mcpServers: [] })
  const ended = ada.request('session/prompt', promptOf(id, 'go'))
  return { ada, bob, ended }
}

test.concurrent('a form of an MCP server is put to the sender, with the name of the server, and its answer goes back [U5]', async () => {
  const { ada, bob, ended } = await companyOf('asks the person', {})
  const question = await ada.until(isAsked)
  expect(question.params).toMatchObject({ mode: 'form', message: 'asker: name?' })
  ada.send({ id: question.id, result: { action: 'accept', content: { name: 'Ada' } } })
  expect((await ended).result).toMatchObject({ stopReason: 'end_turn' })
  expect(JSON.stringify(ada.received)).toContain(String.raw`{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}`)
  expect(bob.received.filter(isAsked)).toEqual([])
})

test.concurrent('a page is put to the sender too [U7]', async () => {
  const { ada, bob, ended } = await companyOf('asks the person', { url: 'https://example.org/in' })
  const question = await ada.until(isAsked)
  expect(question.params).toMatchObject({ mode: 'url', message: 'asker: look', url: 'https://example.org/in' })
  ada.send({ id: question.id, result: { action: 'decline' } })
  await ended
  expect(JSON.stringify(ada.received)).toContain(String.raw`{\"action\":\"decline\"}`)
  expect(bob.received.filter(isAsked)).toEqual([])
})
