/** Schemas that an MCP server made to take for ever: they cost the calls of that server a warning, and other clients nothing. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Fields, updatesIn } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, logOf, openSession, placeWith, serve } from './server.ts'

cleanUpServers()

const program = new URL('../fixtures/mcp/stdio-server.mjs', import.meta.url).pathname

interface Hostile {
  readonly schema: Fields
  readonly value: Fields
}

const ALMOST = `${'a'.repeat(60)}!`
const text = (pattern: string): Hostile => ({
  schema: { type: 'object', properties: { v: { type: 'string', pattern } } },
  value: { v: ALMOST },
})

/** Each level refers to the next one twice. */
function doubled(levels: number): Fields {
  const next = (level: number): Fields => ({ $ref: `#/$defs/l${level + 1}` })
  const rows = Array.from({ length: levels }, (_, level) => [`l${level}`, { allOf: [next(level), next(level)] }])
  return {
    type: 'object',
    properties: { v: { $ref: '#/$defs/l0' } },
    $defs: Object.fromEntries([...rows, last(levels)]),
  }
}

function last(level: number): readonly [string, Fields] {
  return [`l${level}`, { type: 'string', minLength: 1 }]
}

const hostile: Readonly<Record<string, Hostile>> = {
  'a pattern of words': text(String.raw`^(\w+\s?)*$`),
  'a pattern with a choice of the same twice': text('^(a|a)*$'),
  'names that match a pattern': {
    schema: { type: 'object', patternProperties: { '^(a|a)*$': { type: 'number' } } },
    value: { [ALMOST]: 1 },
  },
  'references that double 26 times': { schema: doubled(26), value: { v: 'a' } },
  'a choice among 40 references, twelve levels deep': {
    schema: {
      type: 'object',
      properties: { v: { $ref: '#/$defs/l0' } },
      $defs: Object.fromEntries(
        Array.from({ length: 13 }, (_, level) => [
          `l${level}`,
          { anyOf: Array.from({ length: 40 }, () => ({ $ref: `#/$defs/l${(level + 1) % 13}` })) },
        ]),
      ),
    },
    value: { v: 'a' },
  },
  'a schema that is made of itself': { schema: { type: 'object', allOf: [{ $ref: '#' }] }, value: {} },
  'a list of 12,000 objects that must differ': {
    schema: { type: 'object', properties: { v: { type: 'array', uniqueItems: true } } },
    value: { v: Array.from({ length: 12_000 }, (_, n) => ({ a: { b: { c: n } } })) },
  },
}

test.each(Object.entries(hostile))('%s holds up nobody', async (_name, { schema, value }) => {
  const tools = [
    { name: 'takes', inputSchema: schema },
    { name: 'gives', inputSchema: { type: 'object' }, outputSchema: schema },
  ]
  const results = { gives: { content: [{ type: 'text', text: 'given' }], structuredContent: value } }
  const place = await placeWith([
    { toolCall: { name: 'bad__takes', arguments: value } },
    { toolCall: { name: 'bad__gives', arguments: {} } },
    { toolCall: { name: 'good__answer', arguments: {} } },
    { end: 'end_turn' },
  ])
  await serve(place)
  const ada = await RawSocket.open(place.socket, { agent: place.agent })
  const bob = await RawSocket.open(place.socket, { agent: place.agent })
  writeFileSync(join(place.cwd, 'bad.json'), JSON.stringify({ tools, results }))
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
  expect(['"takes"', '"given"', '42'].filter((said) => !told.includes(said))).toEqual([])
  expect(logOf(place)).not.toContain('call stack')
})
