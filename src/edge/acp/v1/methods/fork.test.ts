/** `session/fork`, which is not yet in ACP's stable version: only with the setting. */
import { describe, expect, test } from 'vitest'
import { quiet } from '../../../../../test/sim/clock.ts'
import { House } from '../../../../../test/sim/house.ts'
import { cleanUp, create, cwd, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import { modes } from '../../../../../test/sim/words.ts'

cleanUp()

test('a server without the setting has no method session/fork', async () => {
  const client = await openStreet().client()
  expect(client.received[0]?.result?.['agentCapabilities']).not.toMatchObject({ sessionCapabilities: { fork: {} } })
  const { error } = await client.request('session/fork', { sessionId: await create(client), cwd })
  expect(error?.code).toBe(-32_601)
})

describe('session/fork', () => {
  const experimental = (house = new House()) => openStreet(house, { experimental: true })

  test('is advertised', async () => {
    expect((await experimental().client()).received[0]?.result).toMatchObject({
      agentCapabilities: { sessionCapabilities: { fork: {} } },
    })
  })

  test('creates a session that continues from there with the same settings, and repeats no update', async () => {
    const house = new House()
    house.agent.modes = modes
    const client = await experimental(house).client()
    const sessionId = await create(client)
    await client.request('session/set_mode', { sessionId, modeId: 'code' })
    await client.request('session/prompt', prompt(sessionId, 'What is it?'))
    const before = client.received.length
    const { result } = await client.request('session/fork', { sessionId, cwd, mcpServers: [] })
    await quiet()
    expect(result).toMatchObject({ modes: { currentModeId: 'code' } })
    const fork = String(result?.['sessionId'])
    expect(fork).not.toBe(sessionId)
    expect(client.received[before]?.id).toBeDefined()
    expect(client.updates.filter((one) => one.sessionId === fork).map(({ update }) => update)).toEqual([
      { sessionUpdate: 'session_info_update', title: 'Fork of What is it?' },
    ])
    expect((await client.request('session/prompt', prompt(fork, 'And then?'))).result).toEqual({
      stopReason: 'end_turn',
    })
    const later = await experimental(house).client()
    await later.request('session/load', opening(fork))
    expect(later.text).toBe('Hello!Hello!')
  })

  test.each([
    [{ sessionId: 's-9' }, 'SESSION_NOT_FOUND'],
    [{ cwd: '/tmp' }, 'SESSION_CWD_DIFFERS'],
    [{ cwd: 'work' }, 'PATH_NOT_ABSOLUTE'],
    [{ additionalDirectories: ['b'] }, 'PATH_NOT_ABSOLUTE'],
  ])('refuses %j, and creates nothing', async (params, code) => {
    const street = experimental()
    const client = await street.client()
    const sessionId = await create(client)
    const { error } = await client.request('session/fork', { sessionId, cwd, ...params })
    expect(error?.data).toMatchObject({ code })
    expect(await street.house.sessions.list({ limit: 9 })).toHaveLength(1)
  })
})
