/** A server that demands a token: a client that has not given it on this connection receives nothing about any session. */
import { describe, expect, test } from 'vitest'
import { quiet } from '../../../../../test/sim/clock.ts'
import { House } from '../../../../../test/sim/house.ts'
import { signal } from '../../../../../test/sim/puppet.ts'
import { type Street, cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import { text } from '../../../../../test/sim/words.ts'

cleanUp()

const guarded = (): Street => openStreet(new House(), { token: 'open sesame' })
const bringing = (token: unknown) => ({ _meta: { 'parley/token': token } })
const METHOD = 'parley-token'

describe('a server without a token', () => {
  test('has no authentication method, and no logout', async () => {
    const client = await openStreet().client()
    expect(client.received[0]?.result).toMatchObject({ authMethods: [] })
    expect(client.received[0]?.result?.['agentCapabilities']).not.toHaveProperty('auth')
    const authenticated = await client.request('authenticate', { methodId: METHOD, ...bringing('x') })
    expect(authenticated.error).toMatchObject({ code: -32_602, data: { code: 'AUTH_METHOD_UNKNOWN' } })
    expect((await client.request('logout', {})).error?.code).toBe(-32_601)
    expect(await create(client)).not.toBe('undefined')
  })
})

describe('a server with a token', () => {
  test('advertises how to authenticate', async () => {
    const client = await guarded().client()
    expect(client.received[0]?.result).toMatchObject({
      authMethods: [{ id: METHOD, name: expect.any(String) as string }],
      agentCapabilities: { auth: { logout: {} } },
    })
  })

  test.each([
    ['session/new', { cwd: '/', mcpServers: [] }],
    ['session/load', opening('s-1')],
    ['session/resume', opening('s-1')],
    ['session/list', {}],
    ['session/prompt', prompt('s-1', 'x')],
    ['session/set_mode', { sessionId: 's-1', modeId: 'x' }],
    ['session/close', { sessionId: 's-1' }],
    ['session/delete', { sessionId: 's-1' }],
    ['_parley/rename', { sessionId: 's-1', title: 'x' }],
    ['_parley/fork', { sessionId: 's-1' }],
  ])('refuses %s before authentication', async (method, params) => {
    const { error } = await (await guarded().client()).request(method, params)
    expect(error).toMatchObject({ code: -32_000, data: { code: 'AUTH_REQUIRED' } })
  })

  test('protects all session methods, and answers _parley/status', async () => {
    const told = async () => 'sentinel'
    const methods = { '_parley/search': told, '_parley/servers': told, '_parley/status': told }
    const client = await openStreet(new House(), { token: 'open sesame', methods }).client()
    for (const method of ['_parley/search', '_parley/servers']) {
      expect((await client.request(method, {})).error).toMatchObject({ code: -32_000, data: { code: 'AUTH_REQUIRED' } })
    }
    expect(await client.request('_parley/status', {})).toMatchObject({ result: 'sentinel' })
  })

  test('accepts a client that authenticates, on this connection only', async () => {
    const street = guarded()
    const [client, other] = [await street.client(), await street.client()]
    const { result } = await client.request('authenticate', { methodId: METHOD, ...bringing('open sesame') })
    expect(result).toEqual({})
    const sessionId = await create(client)
    expect((await other.request('session/load', opening(sessionId))).error?.code).toBe(-32_000)
  })

  test('accepts a client that sends the token with initialize', async () => {
    const client = await guarded().client(bringing('open sesame'))
    expect((await client.request('session/list', {})).result).toEqual({ sessions: [] })
  })

  test('keeps a client authenticated after a second initialize', async () => {
    const client = await guarded().client(bringing('open sesame'))
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    expect((await client.request('session/list', {})).result).toEqual({ sessions: [] })
  })

  test.each([['open sesam'], ['open sesame '], [''], [7], [undefined]])(
    'does not accept %j as the token',
    async (token) => {
      const client = await guarded().client(bringing(token))
      const { error } = await client.request('authenticate', { methodId: METHOD, ...bringing(token) })
      expect(error).toMatchObject({ code: -32_000, data: { code: 'AUTH_FAILED' } })
      expect(JSON.stringify(client.received)).not.toContain('open sesame"')
      expect((await client.request('session/list', {})).error?.code).toBe(-32_000)
    },
  )

  test.each([
    [{ methodId: 'oauth' }, 'AUTH_METHOD_UNKNOWN'],
    [{}, 'PARAMS_INVALID'],
  ])('refuses %j', async (params, code) => {
    const { error } = await (await guarded().client()).request('authenticate', params)
    expect(error).toMatchObject({ code: -32_602, data: { code } })
  })

  test('sends nothing more to a client that has logged out; its turns continue', async () => {
    const street = guarded()
    const go = signal()
    street.house.agent.script = async (turn) => {
      await go.given
      await turn.say(text('Secret'))
      return 'end_turn'
    }
    const client = await street.client(bringing('open sesame'))
    const sessionId = await create(client)
    const asked = client.ask('session/prompt', prompt(sessionId, 'Go'))
    await quiet()
    expect((await client.request('logout', {})).result).toEqual({})
    expect((await client.answerTo(asked)).error?.data).toMatchObject({ code: 'AUTH_REQUIRED' })
    go.give()
    await quiet()
    expect(client.text).toBe('')
    expect((await client.request('session/list', {})).error?.code).toBe(-32_000)

    await client.request('authenticate', { methodId: METHOD, ...bringing('open sesame') })
    await client.request('session/load', opening(sessionId))
    expect(client.text).toBe('Secret')
  })

  test('answers a prompt that was still being stored when its client logged out', async () => {
    const street = guarded()
    const client = await street.client(bringing('open sesame'))
    const sessionId = await create(client)
    street.house.disk.hold()
    const asked = client.ask('session/prompt', prompt(sessionId, 'Go'))
    await quiet()
    expect((await client.request('logout', {})).result).toEqual({})
    street.house.disk.release()
    expect((await client.answerTo(asked)).error?.data).toMatchObject({ code: 'AUTH_REQUIRED' })
    await quiet()
    expect(client.updates.filter(({ update }) => update.sessionUpdate.endsWith('_chunk'))).toEqual([])
  })
})
