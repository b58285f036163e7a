/** Forms of MCP servers are filled in at a terminal: in the chat, for a single prompt, and in the middle of a paused call. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { messageLog } from '../fixtures/mcp/servers.ts'
import { serveHere } from './hosted-server.ts'
import type { Fields } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, openSession, placeWith } from './server.ts'
import { Terminal, cleanUpTerminals } from './terminal.ts'

cleanUpServers()
cleanUpTerminals()

const LONG = 120_000
const PROGRAM = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname
const schema = {
  type: 'object',
  properties: {
    mail: { type: 'string', title: 'Your mail', format: 'email' },
    size: { type: 'string', title: 'Size', oneOf: [{ const: 's', title: 'Small' }] },
  },
  required: ['mail'],
}

interface Scene {
  readonly place: Place
  /** What the MCP server was sent. */
  readonly heard: () => readonly { readonly method?: string; readonly params?: Fields }[]
}

/** An agent whose only call is one of a server with this script. */
async function scene(script: string, args: Fields = {}): Promise<Scene> {
  const place = await placeWith([{ toolCall: { name: 's__do', arguments: args } }, { chunk: 'After.' }])
  const log = messageLog()
  const settings = join(place.home, 'config/parley')
  mkdirSync(settings, { recursive: true })
  const server = { command: process.execPath, args: [PROGRAM, script, log.path] }
  const lines = Object.entries(server).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
  writeFileSync(join(settings, 'parley.toml'), `[mcp.s]\n${lines.join('')}`)
  await serveHere({ home: place.home })
  return { place, heard: () => log.read() }
}

function answersIn({ heard }: Scene): readonly unknown[] {
  return heard().flatMap(({ method, params }) => (method === 'answered' ? [params?.['result']] : []))
}

const isAsked = ({ method }: { readonly method?: unknown }) => method === 'elicitation/create'

describe.runIf(process.platform === 'linux')('a form of an MCP server', { timeout: LONG }, () => {
  test.concurrent('is filled in field by field in the chat, and what does not fit is asked again at once', async () => {
    const one = await scene('asks the person', { schema })
    const chat = new Terminal([], one.place)
    await chat.until('Ctrl-D leaves')
    await chat.enter('go')
    await chat.until('? s: name?')
    await chat.until('Do not type passwords')
    await chat.enter('ada')
    await chat.until('That is not written as email.')
    await chat.enter('ada@example.org')
    await chat.until('1  Small')
    await chat.enter('1')
    await chat.until('Size: Small')
    expect(answersIn(one)).toEqual([])
    await chat.pressUntil('s', '→ sent')
    await chat.until('After.')
    expect(answersIn(one)).toEqual([{ action: 'accept', content: { mail: 'ada@example.org', size: 's' } }])
  })

  test.concurrent('is cancelled by Ctrl-C, and the turn goes on', async () => {
    const one = await scene('asks the person', { schema })
    const run = new Terminal(['run', 'go'], one.place)
    await run.until('Your mail')
    // Once: the next one would be for the turn.
    run.press('\u0003')
    await run.until('→ not answered')
    await run.until('After.')
    expect(answersIn(one)).toEqual([{ action: 'cancel' }])
  })

  test.concurrent('goes away with a line when somebody else cancels the turn', async () => {
    const one = await scene('asks the person', { schema })
    const chat = new Terminal([], one.place)
    await chat.until('Ctrl-D leaves')
    await chat.enter('go')
    await chat.until('Your mail')
    const bob = await RawSocket.open(one.place.socket, { agent: one.place.agent })
    const { sessions } = (await bob.request('session/list', {})).result as { readonly sessions: readonly Fields[] }
    const sessionId = sessions[0]?.['sessionId']
    await bob.request('session/load', { sessionId, cwd: one.place.cwd, mcpServers: [] })
    bob.send({ method: 'session/cancel', params: { sessionId } })
    await chat.until('→ withdrawn')
    await chat.until('– stopped by ')
    expect(answersIn(one).filter((answer) => (answer as Fields)['action'] === 'accept')).toEqual([])
  })

  test.concurrent('of a paused call is answered by whoever attaches', async () => {
    const one = await scene('asks the person in rounds')
    const { place } = one
    const ada = await RawSocket.open(place.socket, { agent: place.agent, capabilities: { elicitation: { form: {} } } })
    const id = await openSession(ada, place, [])
    ada.ask('session/prompt', promptOf(id, 'go'))
    await ada.until(isAsked)
    await ada.leave()
    const attached = new Terminal(['attach', id], place)
    await attached.until('? s: name?')
    await attached.enter('Ada')
    await attached.until('name: Ada')
    await attached.pressUntil('s', '→ sent')
    await attached.until('After.')
    const calls = one.heard().filter(({ method }) => method === 'tools/call')
    expect(calls.at(-1)?.params).toMatchObject({
      requestState: 'opaque 软',
      inputResponses: { who: { action: 'accept', content: { name: 'Ada' } } },
    })
  })
})
