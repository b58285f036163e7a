/** A second version of ACP beside v1, on the connections of one server. */
import { expect, test } from 'vitest'
import { localUser } from '../method-access.ts'
import { House } from '../../../test/sim/house.ts'
import { WireClient } from '../../../test/sim/wire-client.ts'
import type { ProtocolVersion } from './version.ts'
import { protocolV1 } from './v1/protocol-v1.ts'

const heard: unknown[] = []

/** Has one method, which v1 does not have, and hears a notification of its own. */
const protocolV2: ProtocolVersion = {
  number: 2,
  load: async () => undefined,
  open: ({ server }) => ({
    ownMethods: {},
    cancellable: new Set(),
    initialize: () => ({ protocolVersion: 2 }),
    methods: server.sessions.then((sessions) => ({
      request: (method) =>
        method === 'session/new'
          ? sessions
              .create({ cwd: '/', additionalDirectories: [], mcpServers: [] })
              .then(({ id }) => ({ result: { id } }))
          : undefined,
      notified: async (method, params) => void heard.push([method, params]),
      cancelRequest: async () => undefined,
      detach: () => undefined,
    })),
    stopping: () => undefined,
  }),
}

function connect(house: House): WireClient {
  const { clock, sessions, agents, reported } = house
  const server = {
    sessions: Promise.resolve(sessions),
    principal: localUser('stdio'),
    info: { name: 'parley', title: 'Parley', version: '0' },
    agents,
    clock,
    report: (error: unknown) => reported.push(error),
    untilReplyTimeout: () => Promise.resolve(),
  }
  return new WireClient(server, [protocolV2, protocolV1])
}

test('each client has the version that it asks for, else the newest; what one creates the other opens', async () => {
  const house = new House()
  const [two, one, other] = [connect(house), connect(house), connect(house)]
  const answers = [
    await two.request('initialize', { protocolVersion: 2 }),
    await one.request('initialize', { protocolVersion: 1, clientCapabilities: {} }),
    await other.request('initialize', { protocolVersion: 7 }),
  ]
  expect(answers.map(({ result }) => result?.['protocolVersion'])).toEqual([2, 1, 2])

  const { result } = await two.request('session/new', {})
  const opening = { sessionId: result?.['id'], cwd: '/', mcpServers: [] }
  expect((await one.request('session/load', opening)).error).toBeUndefined()
  expect((await two.request('session/load', opening)).error?.code).toBe(-32601)

  two.notify('session/cancel', { session: 'x' })
  await two.request('session/new', {})
  expect(heard).toEqual([['session/cancel', { session: 'x' }]])
  for (const client of [two, one, other]) await client.leave()
})
