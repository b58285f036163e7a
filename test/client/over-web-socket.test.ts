/** The published client in a program on another machine: the real binary is killed and comes back, over the client's own WebSocket. */
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ConnectionEvent, connect, overWebSocket, textIn } from '../../src/client.ts'
import { freePort } from '../fixtures/process/free-port.ts'
import { remote, remoteProcess } from '../e2e/remote-place.ts'
import { cleanUpServers, requirePid, pidIn, start } from '../e2e/server.ts'

cleanUpServers()

const info = { name: 'mine', title: 'Mine', version: '1' }
/** Longer than the test needs it, on a busy machine too. */
const STEPS = [{ chunk: 'w{n} ', times: 100_000, everyMs: 5 }]
const open = (url: string, protocols: readonly string[]) => new WebSocket(url, [...protocols])

test('comes back by itself after kill -9, with its session and its one result', async () => {
  const { place, cli, url, port, token } = await remoteProcess([], STEPS, await freePort())
  const right = token('admin')
  const events: ConnectionEvent['kind'][] = []
  let text = ''
  let heard: () => void = () => undefined
  const hasBegun = new Promise<void>((resolve) => (heard = resolve))
  const client = await connect(
    overWebSocket(url, { token: right, open }),
    {
      updated({ update }) {
        if (update.sessionUpdate !== 'agent_message_chunk') return
        text += textIn(update)
        heard()
      },
      ask: async () => null,
      connection: ({ kind }) => events.push(kind),
    },
    { info, agent: { name: place.agent, chosen: true } },
  )
  const sessionId = await client.newSession(place.cwd)
  const cut = client.prompt(sessionId, 'Go').catch((error: unknown) => error)
  await hasBegun
  process.kill(requirePid(pidIn(place.home)), 'SIGKILL')
  await cli.finished
  await start(place, ['serve', '--listen', String(port)]).until('/acp')
  expect(await cut).toMatchObject({ details: { code: 'TURN_INTERRUPTED' } })
  await expect.poll(() => events).toEqual(['reconnecting', 'reconnected'])
  const words = text.trim().split(' ')
  expect(words).toEqual(words.map((_word, index) => `w${index + 1}`))
  // An orderly stop is no end either: here another server is started by other means.
  await start(place, ['stop']).finished
  await start(place, ['serve', '--listen', String(port)]).until('/acp')
  await expect.poll(() => events.slice(2)).toEqual(['reconnecting', 'reconnected'])
  client.close()
})

test('fails where no server listens, and where the token is wrong, instead of trying for ever', async () => {
  const { url } = await remote()
  const delegate = { updated: () => undefined, ask: async () => null }
  const wrong = connect(overWebSocket(url, { token: 'wrong', open }), delegate, { info })
  await expect(wrong).rejects.toThrow(/401/u)
  const nobody = connect(overWebSocket('ws://127.0.0.1:1/acp', { token: 'x', open }), delegate, { info })
  await expect(nobody).rejects.toThrow(/ECONNREFUSED/u)
})
