/** Schemas that an MCP server made to take for ever: they cost the calls of that server a warning, and other clients nothing. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostileSchemas } from '../fixtures/tools/hostile-schemas.ts'
import { serveHere } from './hosted-server.ts'
import { updatesIn } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, logOf, openSession, placeWith } from './server.ts'

cleanUpServers()

const program = new URL('../fixtures/mcp/stdio-server.mjs', import.meta.url).pathname

test('a schema that takes for ever holds up no other client', async () => {
  // `src/adapters/checking` has the other kinds; what a tool gives is checked there too.
  const { schema, value } = hostileSchemas['a pattern of words'] ?? {}
  const tools = [{ name: 'takes', inputSchema: schema }]
  const place = await placeWith([
    { toolCall: { name: 'bad__takes', arguments: value } },
    { toolCall: { name: 'good__answer', arguments: {} } },
    { end: 'end_turn' },
  ])
  await serveHere(place)
  const ada = await RawSocket.open(place.socket, { agent: place.agent })
  const bob = await RawSocket.open(place.socket, { agent: place.agent })
  writeFileSync(join(place.cwd, 'bad.json'), JSON.stringify({ tools }))
  const bad = [program, `@${join(place.cwd, 'bad.json')}`]
  const id = await openSession(ada, place, [
    { name: 'bad', command: process.execPath, args: bad, env: [] },
    { name: 'good', command: process.execPath, args: [program], env: [] },
  ])
  const ended = ada.request('session/prompt', promptOf(id, 'go'))
  await ada.until((message) => updatesIn([message]).some(({ update }) => update.sessionUpdate === 'tool_call'))
  expect((await bob.request('session/list', {})).error).toBeUndefined()
  expect((await ended).result).toMatchObject({ stopReason: 'end_turn' })
  const told = JSON.stringify(ada.received)
  expect(['"takes"', '42'].filter((said) => !told.includes(said))).toEqual([])
  expect(logOf(place)).not.toContain('call stack')
})
