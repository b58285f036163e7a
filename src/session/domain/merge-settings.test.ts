/**
 * Modes and options: those that the agent offers, those that users set, and that a mode and an option of the same meaning
 * stay equal.
 */
import { describe, expect, test } from 'vitest'
import { House, here, prompted } from '../../../test/sim/house.ts'
import { given } from '../../../test/sim/given.ts'
import { signal } from '../../../test/sim/puppet.ts'
import { quiet } from '../../../test/sim/clock.ts'
import * as say from '../../../test/sim/words.ts'
import type { ConfigOption, Modes, SelectOption } from '../../ports/values/settings.ts'
import { modelOption } from '../../../test/sim/words.ts'
import type { Command } from './commands.ts'
import type { Body } from './entries.ts'
import { offerSettings, setConfigOption, setMode } from './merge-settings.ts'

const offered: readonly Body[] = [
  say.created,
  { kind: 'modes', modes: say.modes },
  { kind: 'config_options', configOptions: say.configOptions },
]

function offering(house: House): void {
  house.agent.modes = say.modes
  house.agent.configOptions = say.configOptions
}

const valuesOf = (configOptions: readonly { readonly id: string; readonly currentValue: unknown }[]) =>
  Object.fromEntries(configOptions.map(({ id, currentValue }) => [id, currentValue]))

describe('setting a mode', () => {
  test('sets the config option of category mode with it', () => {
    const { state, happened } = given(...offered).when({ kind: 'set_mode', modeId: 'code' })
    expect('bodies' in happened && happened.bodies.map(({ kind }) => kind)).toEqual(['mode', 'config_options'])
    expect(state).toMatchObject({ settings: { modes: { currentModeId: 'code' } } })
    expect(state.phase !== 'absent' && valuesOf(state.settings.configOptions)).toMatchObject({ way: 'code' })
  })

  test('to the current one adds no entry', () => {
    const { happened } = given(...offered).when({ kind: 'set_mode', modeId: 'ask' })
    expect(happened).toEqual({ bodies: [] })
  })
})

describe('setting a config option', () => {
  test('of category mode sets the mode with it', () => {
    const command = { kind: 'set_config_option', configId: 'way', value: 'code' } as const
    expect(given(...offered).when(command).state).toMatchObject({ settings: { modes: { currentModeId: 'code' } } })
  })

  test('changes no other option, and keeps their order', () => {
    const command = { kind: 'set_config_option', configId: 'loud', value: true } as const
    const { state } = given(...offered).when(command)
    expect(state.phase !== 'absent' && state.settings.configOptions.map(({ id }) => id)).toEqual([
      'way',
      'model',
      'loud',
    ])
    expect(state.phase !== 'absent' && valuesOf(state.settings.configOptions)).toEqual({
      way: 'ask',
      model: 'small',
      loud: true,
    })
  })

  test.each([
    ['colour', 'red', 'CONFIG_OPTION_UNKNOWN'],
    ['model', 'huge', 'CONFIG_VALUE_UNKNOWN'],
    ['model', true, 'CONFIG_VALUE_UNKNOWN'],
    ['loud', 'yes', 'CONFIG_VALUE_UNKNOWN'],
  ])('is refused for %s = %j', (configId, value, code) => {
    const { happened } = given(...offered).when({ kind: 'set_config_option', configId, value })
    expect(happened).toMatchObject({ refused: { code } })
  })
})

describe('a mode or option that was set', () => {
  test('is kept after kill -9', async () => {
    const house = new House()
    offering(house)
    const { session } = await house.open()
    await session.dispatch({ kind: 'set_mode', modeId: 'code' })
    const next = new House(house.disk)
    offering(next)
    const again = await next.sessions.open(session.id, here)
    expect(again.existing.settings.modes?.currentModeId).toBe('code')
  })

  test('is kept when the agent offers other values, if its value is still offered', async () => {
    const house = new House()
    offering(house)
    const { session } = await house.open()
    await session.dispatch({ kind: 'set_mode', modeId: 'code' })
    await session.dispatch({ kind: 'set_config_option', configId: 'model', value: 'large' })
    house.agent.modes = { currentModeId: 'plan', availableModes: [{ id: 'plan', name: 'Plan' }] }
    house.agent.configOptions = [{ ...say.modelOption, name: 'Which model' }]
    await prompted(session, 'p1')
    expect(session.existing.settings).toEqual({
      modes: { currentModeId: 'plan', availableModes: [{ id: 'plan', name: 'Plan' }] },
      configOptions: [{ ...say.modelOption, name: 'Which model', currentValue: 'large' }],
    })
  })

  test('is seen by the running turn, and the agent can set it too', async () => {
    const house = new House()
    offering(house)
    const [set, seen] = [signal(), signal<unknown[]>()]
    house.agent.script = async (turn) => {
      await set.given
      const before = turn.settings.modes?.currentModeId
      await turn.setMode('ask')
      await turn.setConfigOption('model', 'large')
      seen.give([before, turn.settings.modes?.currentModeId, turn.settings.configOptions[1]?.currentValue])
      return 'end_turn'
    }
    const { session } = await house.open()
    await prompted(session, 'p1')
    await session.dispatch({ kind: 'set_mode', modeId: 'code' })
    set.give()
    expect(await seen.given).toEqual(['code', 'ask', 'large'])
  })

  test('by an agent that does not offer this mode ends its turn with an error', async () => {
    const house = new House()
    house.agent.script = async (turn) => {
      await turn.setMode('fly')
      return 'end_turn'
    }
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', error: { code: 'MODE_UNKNOWN' } })
  })
})

describe('commands that the agent changed in a turn', () => {
  const own = [{ name: 'deploy', description: 'Deploys' }]

  test('are kept through the next turn and a restart, until the agent offers others', async () => {
    const house = new House()
    house.agent.commands = [{ name: 'call', description: 'Calls' }]
    house.agent.script = async (turn) => {
      await turn.offerCommands(own)
      return 'end_turn'
    }
    const { session } = await house.open()
    await prompted(session, 'p1')
    const next = new House(house.disk)
    next.agent.commands = house.agent.commands
    const again = await next.sessions.open(session.id, here)
    await prompted(again, 'p2')
    expect(again.existing.commands).toEqual(own)
    next.agent.commands = []
    await prompted(again, 'p3')
    expect(again.existing.commands).toEqual([])
  })
})

describe('a title', () => {
  const named = async (house: House) => {
    house.agent.script = async (turn) => {
      await turn.title('By the agent')
      return 'end_turn'
    }
    return house.open()
  }

  test('by the agent replaces the one that the first prompt gave', async () => {
    const { session } = await named(new House())
    await prompted(session, 'p1')
    expect(session.existing.title).toBe('By the agent')
  })

  test('by a user is not replaced by the agent, also in a fork', async () => {
    const house = new House()
    const { session } = await named(house)
    await house.sessions.rename(session.id, 'By Ada')
    await prompted(session, 'p1')
    expect(session.existing.title).toBe('By Ada')
    const fork = await house.sessions.open(await house.sessions.fork(session.id), here)
    await prompted(fork, 'p2')
    expect(fork.existing.title).toBe('Fork of By Ada')
  })
})

describe('a compaction', () => {
  test('that is open when its turn ends ends with it', async () => {
    const house = new House()
    house.agent.script = async (turn) => {
      await turn.compact('k1', { status: 'in_progress' })
      await turn.summarize('k1', say.text('So far'))
      return 'end_turn'
    }
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    expect(reader.entries.slice(-2)).toMatchObject([
      { kind: 'compaction', compactionId: 'k1', patch: { status: 'failed' } },
      { kind: 'turn_ended' },
    ])
  })

  test('that kill -9 interrupted is ended by recovery', async () => {
    const house = new House()
    house.agent.script = async (turn) => {
      await turn.compact('k1', { status: 'in_progress' })
      return new Promise(() => {})
    }
    const { session } = await house.open()
    await prompted(session, 'p1')
    const { reader } = await house.killed(session)
    expect(reader.entries.filter(({ kind }) => kind === 'compaction')).toHaveLength(2)
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'interrupted' })
  })

  test('ends once: later updates of it are ignored', () => {
    const over: Body = { kind: 'compaction', compactionId: 'k1', patch: { status: 'completed' } }
    const past = [say.created, say.accepted('p1', 'x'), say.turnStarted(1, 'p1'), over]
    const again = say.does(1, { kind: 'compaction', compactionId: 'k1', patch: { status: 'in_progress' } })
    expect(given(...past).when(again).happened).toEqual({ bodies: [] })
  })
})

test('a notice is sent to the attached clients, after the entries before it, and is not stored', async () => {
  const house = new House()
  house.agent.script = async (turn) => {
    await turn.say(say.text('Hello'))
    await turn.notify({ severity: 'info', title: 'Nearly full' })
    return 'end_turn'
  }
  const { session, reader } = await house.open()
  const before = reader.entries.length
  const heard: unknown[] = []
  reader.onNotice = () => heard.push(reader.entries.slice(before).map(({ kind }) => kind))
  await prompted(session, 'p1')
  await quiet()
  expect(heard).toEqual([['prompt_accepted', 'turn_started', 'message_chunk', 'title', 'message_chunk']])
  expect(reader.entries.map(({ kind }) => kind)).not.toContain('notice')
})

describe('an option whose list of choices is incomplete', () => {
  const open = (named?: string): ConfigOption => ({
    ...(modelOption as SelectOption),
    allowsOther: true,
    ...(named !== undefined && { configuredValue: named }),
  })
  const offer = (option: ConfigOption): Command => ({
    kind: 'set_agent_capabilities',
    agent: 'puppet',
    commands: [],
    settings: { modes: null, configOptions: [option] },
  })
  const chosen = (option: ConfigOption): Body => ({ kind: 'config_options', configOptions: [option] })

  test('keeps a value that the list does not have', () => {
    const set = { ...open(), currentValue: 'huge', options: [{ value: 'huge', name: 'Huge' }] } as ConfigOption
    const { state } = given(say.created, chosen(set)).when(offer(open()))
    expect(state).toMatchObject({ settings: { configOptions: [{ currentValue: 'huge' }] } })
  })

  test('takes the new value of the configuration, and keeps what is set after that', () => {
    const set = { ...open(), currentValue: 'large' } as ConfigOption
    const { state } = given(say.created, chosen(set)).when(offer(open('small')))
    expect(state).toMatchObject({ settings: { configOptions: [{ currentValue: 'small' }] } })
    const later = { ...open('small'), currentValue: 'large' } as ConfigOption
    const again = given(say.created, chosen(later)).when(offer(open('small')))
    expect(again.happened).toEqual({ bodies: [] })
  })
})

test('a change of what the agent offers reaches live sessions', async () => {
  const house = new House()
  offering(house)
  const { session } = await house.open()
  house.agent.configOptions = [say.loudOption]
  for (const opened of house.agent.sessions) await opened.capabilitiesChanged()
  await quiet()
  expect(session.existing.settings.configOptions).toEqual([say.loudOption])
})

describe('merging', () => {
  const select = (more: Partial<SelectOption>): SelectOption => ({
    id: 'way',
    name: 'Way',
    type: 'select',
    currentValue: 'a',
    options: [
      { value: 'a', name: 'A' },
      { value: 'b', name: 'B' },
    ],
    ...more,
  })
  const flag: ConfigOption = { id: 'loud', name: 'Loud', type: 'boolean', currentValue: false }
  const modes = { currentModeId: 'a', availableModes: ['a', 'b'].map((id) => ({ id, name: id })) }
  const inGroups: Partial<SelectOption> = {
    options: [{ group: 'g', name: 'G', options: [{ value: 'a', name: 'A' }] }],
    allowsOther: true,
  }

  test('a refusal names the wrong value and those that are offered', () => {
    const refused = (act: () => unknown) => {
      try {
        act()
      } catch (error) {
        return String(error)
      }
      return 'nothing was refused'
    }
    const now = { modes, configOptions: [select({})] }
    expect(refused(() => setMode('c', now))).toMatch(/c.*a, b/u)
    expect(refused(() => setMode('c', { modes: null, configOptions: [] }))).toMatch(/none/u)
    expect(refused(() => setConfigOption('speed', 'a', now))).toContain('speed')
    expect(refused(() => setConfigOption('way', 'z', now))).toMatch(/way.*z|z.*way/u)
  })

  test('a mode changes only an option of category mode that offers its value', () => {
    const set = (...configOptions: readonly ConfigOption[]) => setMode('b', { modes, configOptions })
    const mode = { kind: 'mode', modeId: 'b' }
    expect(set(select({}), flag)).toEqual([mode])
    expect(set(select({ category: 'mode', options: [{ value: 'a', name: 'A' }] }))).toEqual([mode])
    const meant = select({ category: 'mode' })
    expect(set(meant)).toEqual([mode, { kind: 'config_options', configOptions: [{ ...meant, currentValue: 'b' }] }])
  })

  test('an option changes the mode only if its category is mode and that mode exists', () => {
    const kinds = (option: ConfigOption, value: string | boolean, now: Modes | null = modes) =>
      setConfigOption(option.id, value, { modes: now, configOptions: [option] }).map(({ kind }) => kind)
    expect(kinds(select({ category: 'mode' }), 'b')).toEqual(['config_options', 'mode'])
    expect(kinds(select({}), 'b')).toEqual(['config_options'])
    expect(kinds(select({ category: 'mode' }), 'b', null)).toEqual(['config_options'])
    expect(kinds({ ...flag, category: 'mode' }, true)).toEqual(['config_options'])
    expect(kinds(select({ category: 'mode' }), 'a')).toEqual([])
  })

  test('a value that is not offered is kept only where others are allowed, and is then added to the choices', () => {
    const kept = (offered: ConfigOption, now: ConfigOption) =>
      offerSettings({ modes: null, configOptions: [offered] }, { modes: null, configOptions: [now] })
    const brought = (option: ConfigOption) => [{ kind: 'config_options', configOptions: [option] }]
    const set = select({ currentValue: 'z' })
    expect(kept(select({}), set)).toEqual(brought(select({})))
    const choice = { value: 'z', name: 'z' }
    const other = select({ allowsOther: true })
    expect(kept(other, set)).toEqual(
      brought({ ...other, currentValue: 'z', options: [...other.options, choice] as never }),
    )
    const group = { group: 'parley/kept', name: 'Chosen before', options: [choice] }
    const grouped = select(inGroups)
    const options = [...grouped.options, group] as never
    expect(kept(grouped, set)).toEqual(brought({ ...grouped, currentValue: 'z', options }))
    expect(kept(flag, { ...flag, currentValue: true })).toEqual([])
    expect(kept({ ...flag, id: 'way' }, set)).toEqual(brought({ ...flag, id: 'way' }))
    expect(kept(other, { ...flag, id: 'way' })).toEqual(brought(other))
  })

  test('a mode that is no longer offered is not kept', () => {
    const offered = { ...modes, currentModeId: 'b' }
    const now = { modes: { ...modes, currentModeId: 'gone' }, configOptions: [] }
    expect(offerSettings({ modes: offered, configOptions: [] }, now)).toEqual([{ kind: 'modes', modes: offered }])
  })
})
