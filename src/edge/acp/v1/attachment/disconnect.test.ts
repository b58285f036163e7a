/** A client that disconnects while a session is being opened for it leaves nothing behind. */
import { describe, expect, test } from 'vitest'
import { quiet } from '../../../../../test/sim/clock.ts'
import { type Street, cleanUp, create, cwd, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import { options } from '../../../../../test/sim/words.ts'

cleanUp()

/** Asks for it, and leaves while the disk has not answered yet. */
async function leaveWhileOpening(street: Street, method: string, params: object): Promise<void> {
  const { disk } = street.house
  const client = await street.client()
  disk.hold()
  client.ask(method, { ...params })
  await expect.poll(() => disk.waiting).toBeGreaterThan(0)
  await client.leave()
  disk.release()
  await quiet()
  await quiet()
}

const server = { name: 'docs', command: 'docs', args: [], env: [] }

describe('a client that disconnects while', () => {
  test('session/new runs: no session is created, and none of its MCP servers runs', async () => {
    const street = openStreet()
    await leaveWhileOpening(street, 'session/new', { cwd, mcpServers: [server] })
    expect(await street.house.sessions.list({ limit: 10 })).toEqual([])
    expect(street.house.tools.running).toBe(0)
  })

  test('session/fork runs: no fork is created', async () => {
    const street = openStreet(undefined, { experimental: true })
    const ada = await street.client()
    const sessionId = await create(ada)
    await leaveWhileOpening(street, 'session/fork', opening(sessionId))
    expect((await street.house.sessions.list({ limit: 10 })).map(({ id }) => id)).toEqual([sessionId])
  })

  test.each(['session/load', 'session/resume'])(
    '%s is answered: it is not attached, and the session is unloaded when the others have left',
    async (method) => {
      const street = openStreet()
      const ada = await street.client()
      const sessionId = await create(ada)
      const params = opening(sessionId, {
        mcpServers: [server],
        additionalDirectories: ['/tmp'],
        _meta: { 'parley/prompts': [{ promptId: 'p-9', requestId: 9 }] },
      })
      await leaveWhileOpening(street, method, params)
      const session = await street.house.sessions.open(sessionId, { cwd, additionalDirectories: [], mcpServers: [] })
      expect(session.clients.size).toBe(1)
      expect(session.tools.servers).toEqual([])
      await ada.leave()
      await street.house.clock.advance(61_000)
      expect(street.house.tools.running).toBe(0)
    },
  )

  test('it opens two sessions under one request id: it is attached to neither', async () => {
    const street = openStreet()
    const ada = await street.client()
    const ids = [await create(ada), await create(ada)]
    const { disk, sessions } = street.house
    const client = await street.client()
    disk.hold()
    for (const sessionId of ids)
      client.send({ id: 7, method: 'session/load', params: opening(sessionId, { additionalDirectories: ['/tmp'] }) })
    await expect.poll(() => disk.waiting).toBeGreaterThan(1)
    await client.leave()
    disk.release()
    await quiet()
    await quiet()
    for (const sessionId of ids) {
      const session = await sessions.open(sessionId, { cwd, additionalDirectories: [], mcpServers: [] })
      expect(session.clients.size).toBe(1)
    }
  })

  test('it loads: a permission request that all others decline is rejected', async () => {
    const street = openStreet()
    street.house.agent.script = async (turn) => {
      const { outcome } = await turn.ask({ toolCallId: 'c1', patch: { title: 'x' }, options, state: null })
      return outcome === 'cancelled' ? 'refusal' : 'end_turn'
    }
    const ada = await street.client()
    const sessionId = await create(ada)
    await leaveWhileOpening(street, 'session/load', opening(sessionId, { additionalDirectories: ['/tmp'] }))
    const asked = ada.ask('session/prompt', prompt(sessionId, 'Go'))
    const { id } = await ada.until(({ method }) => method === 'session/request_permission')
    ada.send({ id, result: { outcome: { outcome: 'cancelled' } } })
    expect((await ada.answerTo(asked)).result).toEqual({ stopReason: 'refusal' })
  })
})
