/** Prompts of MCP servers are commands of the session, through the real server: offered between turns, filled in when they are typed. */
import { expect, test } from 'vitest'
import { messageLog } from '../fixtures/mcp/servers.ts'
import { serveHere } from './hosted-server.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith } from './server.ts'

cleanUpServers()

const program = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname

interface Told {
  readonly update?: { readonly sessionUpdate?: string; readonly availableCommands?: readonly object[] }
}

function offers(name: string) {
  return ({ params }: { readonly params?: unknown }) => {
    const { update } = (params ?? {}) as Told
    return update?.sessionUpdate === 'available_commands_update' && JSON.stringify(update).includes(`"name":"${name}"`)
  }
}

test.concurrent.each(['script', 'guide'])(
  'they come, change and are filled in with the agent %s [X5]',
  async (agent) => {
    const place = await placeWith([{ toolCall: { name: 's__do' } }, { end: 'end_turn' }])
    await serveHere(place)
    const ada = await RawSocket.open(place.socket, { agent: agent === 'guide' ? agent : place.agent })
    const log = messageLog()
    const server = {
      name: 's',
      command: process.execPath,
      args: [program, 'has prompts that change', log.path],
      env: [],
    }
    const id = await openSession(ada, place, [server])
    const offered = await ada.until(offers('s__review'))
    expect(offered.params).toMatchObject({
      update: {
        availableCommands: expect.arrayContaining([
          { name: 's__review', description: 'Reviews a file', input: { hint: 'file' } },
        ]) as unknown,
      },
    })
    const typed = await ada.request('session/prompt', promptOf(id, '/s__review a b.ts'))
    expect(typed.result).toMatchObject({ stopReason: 'end_turn' })
    expect(JSON.stringify(ada.received)).toContain('Review a b.ts with care.')
    expect(log.read().find(({ method }) => method === 'prompts/get')?.params).toMatchObject({
      name: 'review',
      arguments: { file: 'a b.ts' },
    })
    if (agent === 'guide') {
      await ada.request('session/prompt', promptOf(id, '/s__review'))
      expect(JSON.stringify(ada.received)).toContain('/s__review needs file.')
    } else await ada.until(offers('s__greet'))
  },
)

test.concurrent('what is typed behind one can be completed, by its arguments, and is asked for once [X7]', async () => {
  const place = await placeWith([{ end: 'end_turn' }])
  await serveHere(place)
  const ada = await RawSocket.open(place.socket, { agent: place.agent })
  const log = messageLog()
  const server = { name: 's', command: process.execPath, args: [program, 'suggests what is meant', log.path], env: [] }
  const id = await openSession(ada, place, [server])
  await ada.until(offers('s__review'))
  const complete = async (text: string, command = 's__review') =>
    (await ada.request('_parley/complete', { sessionId: id, command, text })).result
  const first = await complete('sr')
  expect(first).toMatchObject({ argument: 'file', value: 'sr' })
  expect(first?.['values']).toHaveLength(100)
  expect(await complete('sr')).toEqual(first)
  const asked = () => log.read().filter(({ method }) => method === 'completion/complete')
  expect(asked()).toHaveLength(1)
  expect(await complete('a.ts 1 2')).toMatchObject({ argument: 'lines', value: '1 2' })
  expect(asked().at(-1)?.params).toMatchObject({
    ref: { type: 'ref/prompt', name: 'review' },
    argument: { name: 'lines', value: '1 2' },
    context: { arguments: { file: 'a.ts' } },
  })
  expect(await complete('fail')).toMatchObject({ values: [] })
  expect(await complete('x', 's__plain')).toEqual({ values: [] })
  expect(await complete('x', 'nobody')).toEqual({ values: [] })
  const { error } = await ada.request('_parley/complete', { sessionId: id, command: 's__review' })
  expect(error).toMatchObject({ code: -32602, data: { code: 'PARAMS_INVALID' } })
})
