/** Modes, options, usage, title and commands of a session, as plain ACP clients see them. */
import { describe, expect, test } from 'vitest'
import type { Fields, Update } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { House } from '../../../../../test/sim/house.ts'
import { signal } from '../../../../../test/sim/puppet.ts'
import { type Street, cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'
import { loudOption, modeOption, modelOption, modes, text } from '../../../../../test/sim/words.ts'

cleanUp()

const knows = (...names: readonly ('booleans' | 'notices' | 'compaction')[]): Fields => ({
  clientCapabilities: {
    session: {
      ...(names.includes('booleans') && { configOptions: { boolean: {} } }),
      ...(names.includes('notices') && { notices: {} }),
      ...(names.includes('compaction') && { compaction: {} }),
    },
  },
})

function modal(): Street {
  const street = openStreet()
  street.house.agent.modes = modes
  street.house.agent.configOptions = [modeOption, modelOption, loudOption]
  return street
}

const updatesOf = (client: WireClient, kind: string): readonly Update[] =>
  client.updates.flatMap(({ update }) => (update.sessionUpdate === kind ? [update] : []))
const valuesIn = (options: unknown): Fields =>
  Object.fromEntries((options as readonly Fields[]).map(({ id, currentValue }) => [id, currentValue]))
const setMode = (client: WireClient, sessionId: string, modeId: string) =>
  client.request('session/set_mode', { sessionId, modeId })

describe('modes and options', () => {
  test.each(['session/load', 'session/resume'])(
    'are in the response of session/new and %s, with their current values',
    async (method) => {
      const client = await modal().client()
      const { result } = await client.request('session/new', { cwd: '/', mcpServers: [] })
      expect(result).toMatchObject({ modes, configOptions: [modeOption, modelOption] })
      const sessionId = String(result?.['sessionId'])
      expect((await setMode(client, sessionId, 'code')).result).toEqual({})
      const again = await client.request(method, opening(sessionId))
      expect(again.result).toMatchObject({ modes: { currentModeId: 'code' } })
      expect(valuesIn(again.result?.['configOptions'])).toEqual({ way: 'code', model: 'small' })
      expect(updatesOf(client, 'current_mode_update')).toHaveLength(1)
    },
  )

  test('are left out for an agent that has none', async () => {
    const { result } = await (await openStreet().client()).request('session/new', { cwd: '/', mcpServers: [] })
    expect(Object.keys(result ?? {}).toSorted()).toEqual(['_meta', 'sessionId'])
  })

  test('are sent to every client when they change, also to the one that changed them, before the response', async () => {
    const street = modal()
    const [ada, bob] = [await street.client(), await street.client()]
    const sessionId = await create(ada)
    await bob.request('session/resume', opening(sessionId))
    await quiet()
    const { id } = await setMode(ada, sessionId, 'code')
    await quiet()
    for (const client of [ada, bob]) {
      expect(updatesOf(client, 'current_mode_update')).toEqual([
        { sessionUpdate: 'current_mode_update', currentModeId: 'code' },
      ])
      expect(valuesIn(updatesOf(client, 'config_option_update').at(-1)?.['configOptions'])).toMatchObject({
        way: 'code',
      })
    }
    expect(ada.received.findIndex((message) => message.id === id && message.method === undefined)).toBe(
      ada.received.length - 1,
    )
  })

  test('can be set while a turn runs, and take effect at once', async () => {
    const street = modal()
    const go = signal()
    street.house.agent.script = async (turn) => {
      await go.given
      await turn.say(text(String(turn.settings.modes?.currentModeId)))
      return 'end_turn'
    }
    const client = await street.client()
    const sessionId = await create(client)
    const asked = client.ask('session/prompt', prompt(sessionId, 'Go'))
    expect((await setMode(client, sessionId, 'code')).result).toEqual({})
    go.give()
    await client.answerTo(asked)
    expect(client.text).toBe('code')
  })

  test('setting one is answered with all of them, and the option of category mode changes the mode', async () => {
    const client = await modal().client()
    const sessionId = await create(client)
    const { result } = await client.request('session/set_config_option', { sessionId, configId: 'way', value: 'code' })
    expect(valuesIn(result?.['configOptions'])).toEqual({ way: 'code', model: 'small' })
    expect(updatesOf(client, 'current_mode_update')).toHaveLength(1)
  })

  test.each([
    ['session/set_mode', { modeId: 'fly' }, 'MODE_UNKNOWN'],
    ['session/set_mode', { modeId: 7 }, 'PARAMS_INVALID'],
    ['session/set_mode', {}, 'PARAMS_INVALID'],
    ['session/set_config_option', { configId: 'colour', value: 'red' }, 'CONFIG_OPTION_UNKNOWN'],
    ['session/set_config_option', { configId: 'model', value: 'huge' }, 'CONFIG_VALUE_UNKNOWN'],
    ['session/set_config_option', { configId: 'model', type: 'boolean', value: true }, 'CONFIG_VALUE_UNKNOWN'],
    ['session/set_config_option', { configId: 'model' }, 'PARAMS_INVALID'],
  ])('%s to %j is refused', async (method, params, code) => {
    const client = await modal().client()
    const { error } = await client.request(method, { sessionId: await create(client), ...params })
    expect(error).toMatchObject({ code: -32_602, data: { code } })
  })

  test('can only be set by a client that has the session open', async () => {
    const street = modal()
    const sessionId = await create(await street.client())
    const { error } = await setMode(await street.client(), sessionId, 'code')
    expect(error?.data).toMatchObject({ code: 'SESSION_NOT_ATTACHED' })
  })

  test('of type boolean are sent only to clients that know them', async () => {
    const street = modal()
    const [knowing, plain] = [await street.client(knows('booleans')), await street.client()]
    const sessionId = await create(knowing)
    const { result } = await plain.request('session/load', opening(sessionId))
    await quiet()
    const loud = { sessionId, configId: 'loud', type: 'boolean', value: true }
    expect((await plain.request('session/set_config_option', loud)).error?.data).toMatchObject({
      code: 'CONFIG_OPTION_UNKNOWN',
    })
    const set = await knowing.request('session/set_config_option', loud)
    await quiet()
    expect(valuesIn(set.result?.['configOptions'])).toMatchObject({ loud: true })
    const shown = [result, ...updatesOf(plain, 'config_option_update')].flatMap((one) => one?.['configOptions'])
    expect(JSON.stringify(shown)).not.toContain('loud')
    expect(updatesOf(plain, 'config_option_update')).toHaveLength(1)
  })

  test('changed by the agent itself are sent to every client', async () => {
    const street = modal()
    street.house.agent.script = async (turn) => {
      await turn.setMode('code')
      await turn.setConfigOption('model', 'large')
      return 'end_turn'
    }
    const client = await street.client()
    const sessionId = await create(client)
    await client.request('session/prompt', prompt(sessionId, 'Go'))
    expect(updatesOf(client, 'current_mode_update').at(-1)).toMatchObject({ currentModeId: 'code' })
    expect(valuesIn(updatesOf(client, 'config_option_update').at(-1)?.['configOptions'])).toEqual({
      way: 'code',
      model: 'large',
    })
  })
})

describe('context usage', () => {
  test('is sent when it changes, and once, before the response, to a client that loads or resumes', async () => {
    const street = openStreet()
    street.house.agent.script = async (turn) => {
      for (const used of [10, 20]) await turn.usage({ used, size: 100, cost: { amount: 0.5, currency: 'USD' } })
      return 'end_turn'
    }
    const client = await street.client()
    const sessionId = await create(client)
    await client.request('session/prompt', prompt(sessionId, 'Go'))
    expect(updatesOf(client, 'usage_update').map(({ used }) => used)).toEqual([10, 20])
    for (const method of ['session/load', 'session/resume']) {
      const other = await street.client()
      const asked = other.ask(method, opening(sessionId))
      await other.answerTo(asked)
      const at = other.received.findIndex(({ id }) => id === asked)
      await quiet()
      expect(updatesOf(other, 'usage_update').map(({ used }) => used)).toEqual([20])
      expect(other.received.slice(at).some(({ params }) => JSON.stringify(params)?.includes('usage_update'))).toBe(
        false,
      )
    }
  })
})

describe('a client that joins in mid-message', () => {
  test('gets title, commands and usage with sequence numbers of their own', async () => {
    const street = openStreet()
    const go = signal()
    street.house.agent.script = async (turn) => {
      await turn.offerCommands([{ name: 'plan', description: 'Plans' }])
      for (const used of [10, 20]) await turn.usage({ used, size: 100 })
      await turn.say(text('Half a '))
      await go.given
      await turn.say(text('sentence.'))
      return 'end_turn'
    }
    const client = await street.client()
    const sessionId = await create(client)
    const asked = client.ask('session/prompt', prompt(sessionId, 'Go'))
    await quiet()
    const later = await street.client()
    await later.request('session/load', opening(sessionId))
    go.give()
    await client.answerTo(asked)
    await quiet()
    const places = later.received.flatMap(
      ({ params }) => (params?.['_meta'] as Fields | undefined)?.['parley/seq'] ?? [],
    )
    expect(places).toEqual([...new Set(places.map(Number))].toSorted((a, b) => a - b))
    expect(later.text).toBe('Half a sentence.')
    expect(later.updates.map(({ update }) => update.sessionUpdate).slice(0, 4)).toEqual([
      'user_message_chunk',
      'session_info_update',
      'available_commands_update',
      'usage_update',
    ])
    expect(updatesOf(later, 'usage_update').map(({ used }) => used)).toEqual([20])
  })
})

describe('a notice', () => {
  test('is sent live to clients that show notices, and is not stored', async () => {
    const street = openStreet()
    street.house.agent.script = async (turn) => {
      await turn.say(text('One. '))
      await turn.notify({ severity: 'warning', title: 'Nearly full', description: 'Soon.' })
      await turn.say(text('Two.'))
      return 'end_turn'
    }
    const [shows, plain] = [await street.client(knows('notices')), await street.client()]
    const sessionId = await create(shows)
    await plain.request('session/load', opening(sessionId))
    await quiet()
    await plain.request('session/prompt', prompt(sessionId, 'Go'))
    await quiet()
    const kinds = shows.updates.map(({ update }) => update.sessionUpdate).slice(-3)
    expect(kinds).toEqual(['agent_message_chunk', 'notice', 'agent_message_chunk'])
    expect(updatesOf(shows, 'notice')).toEqual([
      { sessionUpdate: 'notice', severity: 'warning', title: 'Nearly full', description: 'Soon.' },
    ])
    const later = await street.client(knows('notices'))
    await later.request('session/load', opening(sessionId))
    expect([...updatesOf(plain, 'notice'), ...updatesOf(later, 'notice')]).toEqual([])
  })
})

describe('a compaction', () => {
  test('is sent to clients that know compactions, also in a load, and not to others', async () => {
    const street = openStreet()
    street.house.agent.script = async (turn) => {
      await turn.compact('k1', { status: 'in_progress' })
      await turn.summarize('k1', text('So far.'))
      await turn.compact('k1', { status: 'completed' })
      await turn.say(text('Hello'))
      return 'end_turn'
    }
    const [knowing, plain] = [await street.client(knows('compaction')), await street.client()]
    const sessionId = await create(knowing)
    await plain.request('session/load', opening(sessionId))
    await knowing.request('session/prompt', prompt(sessionId, 'Go'))
    const later = await street.client(knows('compaction'))
    await later.request('session/load', opening(sessionId))
    await quiet()
    for (const client of [knowing, later])
      expect(
        client.updates.flatMap(({ update }) => (update.sessionUpdate.startsWith('compaction') ? [update] : [])),
      ).toEqual([
        { sessionUpdate: 'compaction_update', compactionId: 'k1', status: 'in_progress' },
        { sessionUpdate: 'compaction_summary_chunk', compactionId: 'k1', content: text('So far.') },
        { sessionUpdate: 'compaction_update', compactionId: 'k1', status: 'completed' },
      ])
    expect(JSON.stringify(plain.updates)).not.toContain('compaction')
    expect(plain.text).toBe('Hello')
  })
})

describe('the title of a session', () => {
  test('that a user gave is not changed by the agent', async () => {
    const street = openStreet()
    street.house.agent.script = async (turn) => {
      await turn.title('By the agent')
      return 'end_turn'
    }
    const client = await street.client()
    const sessionId = await create(client)
    await client.request('session/prompt', prompt(sessionId, 'Go'))
    await client.request('_parley/rename', { sessionId, title: 'By Ada' })
    await client.request('session/prompt', prompt(sessionId, 'Go on'))
    expect(updatesOf(client, 'session_info_update').map(({ title }) => title)).toEqual(['Go', 'By the agent', 'By Ada'])
  })
})

describe('commands', () => {
  test('that the agent changed are sent to every client, and to one that loads later', async () => {
    const street = openStreet()
    street.house.agent.script = async (turn) => {
      await turn.offerCommands([{ name: 'plan', description: 'Plans', hint: 'what' }])
      return 'end_turn'
    }
    const client = await street.client()
    const sessionId = await create(client)
    await client.request('session/prompt', prompt(sessionId, 'Go'))
    const later = await street.client()
    await later.request('session/load', opening(sessionId))
    const availableCommands = [{ name: 'plan', description: 'Plans', input: { hint: 'what' } }]
    for (const one of [client, later])
      expect(updatesOf(one, 'available_commands_update')).toMatchObject([{ availableCommands }])
  })
})

describe('prompt content', () => {
  const blocks = [
    { type: 'text', text: 'Look', annotations: { audience: ['assistant'] }, _meta: { traceparent: '00-1' } },
    { type: 'image', data: 'AA==', mimeType: 'image/png', uri: 'file:///a.png' },
    { type: 'audio', data: 'AA==', mimeType: 'audio/wav', _meta: { own: [1] } },
    { type: 'resource', resource: { uri: 'file:///a', text: 'a', mimeType: 'text/plain', _meta: { k: 1 } } },
    { type: 'resource', resource: { uri: 'file:///b', blob: 'AA==' }, annotations: { priority: 0.5 } },
    { type: 'resource_link', uri: 'file:///c', name: 'c', size: 3 },
  ]

  test('that the agent accepts arrives unchanged: at the agent, at other clients, and in later loads', async () => {
    const house = new House()
    house.agents.kinds = { image: true, audio: true, embeddedContext: true }
    const street = openStreet(house)
    const [ada, bob] = [await street.client(), await street.client()]
    expect(ada.received[0]?.result).toMatchObject({ agentCapabilities: { promptCapabilities: house.agents.kinds } })
    const sessionId = await create(ada)
    await bob.request('session/load', opening(sessionId))
    const attached = { traceparent: '00-1-2-01' }
    const _meta = { ...attached, 'parley/promptId': 'mine' }
    await ada.request('session/prompt', { sessionId, prompt: blocks, _meta })
    const later = await street.client()
    await later.request('session/load', opening(sessionId))
    await quiet()
    for (const client of [bob, later]) {
      const chunks = updatesOf(client, 'user_message_chunk')
      expect(chunks.map(({ content }) => content)).toEqual(blocks)
      expect(new Set(chunks.map(({ messageId }) => messageId)).size).toBe(1)
      expect(chunks.map((chunk) => chunk['_meta'])).toEqual([attached, ...blocks.slice(1).map(() => undefined)])
    }
    const inside: unknown = JSON.parse(JSON.stringify(blocks).replaceAll('_meta', 'meta'))
    expect(house.agent.turns[0]?.prompt).toEqual(inside)
    expect(house.agent.turns[0]?.promptMeta).toEqual(attached)
  })

  test.each(blocks.filter(({ type }) => type !== 'text' && type !== 'resource_link'))(
    '$type that the agent does not accept is refused, and nothing is stored',
    async (block) => {
      const client = await openStreet().client()
      const sessionId = await create(client)
      const { error } = await client.request('session/prompt', { sessionId, prompt: [block] })
      expect(error).toMatchObject({ code: -32_602, data: { code: 'PARAMS_INVALID' } })
      expect((await client.request('session/load', opening(sessionId))).error).toBeUndefined()
      expect(updatesOf(client, 'user_message_chunk')).toEqual([])
    },
  )
})
