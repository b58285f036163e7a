/** Modes, options and commands of external agents: set while they run and while they do not. The numbers are cases of their law. */
import { expect, test } from 'vitest'
import { until } from '../fixtures/process/running.ts'
import type { Session } from '../../src/session/session.ts'
import { Stage, endOf, notices, prompted, sent } from './stage.ts'

const MODES = {
  currentModeId: 'ask',
  availableModes: ['ask', 'plan', 'allow-all'].map((id) => ({ id, name: id })),
}

function select(id: string, values: readonly string[], category = id) {
  const options = values.map((value) => ({ value, name: value.toUpperCase() }))
  return { id, name: id, category, type: 'select', currentValue: values[0], options }
}

const MODEL = select('model', ['small', 'large'])
const EFFORT = select('effort', ['low', 'high'], 'thought_level')

function valuesOf(session: Session): Readonly<Record<string, unknown>> {
  const { modes, configOptions } = session.existing.settings
  const options = Object.fromEntries(configOptions.map(({ id, currentValue }) => [id, currentValue]))
  return { mode: modes?.currentModeId, ...options }
}

test.concurrent("an agent's modes that are called like Parley's own never mean those [7]", async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    settings: { modes: MODES },
    prompts: { go: [{ permission: {}, onAnswer: { no: [{ chunk: 'refused' }] } }] },
  })
  const { session, reader } = await stage.open()
  await session.dispatch({ kind: 'set_mode', modeId: 'allow-all' })
  await until(() => fake.received('session/set_mode').length > 0)
  const turn = prompted(session, reader, 'go')
  await until(() => (reader.view?.questions.length ?? 0) > 0)
  const requestId = reader.view?.questions[0]?.requestId ?? ''
  await session.dispatch({ kind: 'answer', requestId, optionId: 'no' })
  await turn
  expect(reader.text).toBe('refused')
})

test.concurrent('an option changes another; what the agent refuses keeps its old value and says why [8]', async () => {
  const after = [
    { ...MODEL, currentValue: 'large' },
    { ...EFFORT, currentValue: 'high', options: [{ value: 'high', name: 'High' }] },
  ]
  await using stage = new Stage()
  stage.fake({
    settings: { configOptions: [MODEL, EFFORT] },
    on: {
      'session/set_config_option': [
        { if: '"large"', moves: [{ answer: { configOptions: after } }] },
        { if: '"low"', moves: [{ fail: { code: -32_602, message: 'not with this model' } }] },
      ],
    },
  })
  const { session, reader } = await stage.open()
  await session.dispatch({ kind: 'set_config_option', configId: 'model', value: 'large' })
  await until(() => valuesOf(session)['effort'] === 'high')
  expect(valuesOf(session)).toMatchObject({ model: 'large', effort: 'high' })
  await session.dispatch({ kind: 'set_config_option', configId: 'model', value: 'small' })
  await expect(session.dispatch({ kind: 'set_config_option', configId: 'effort', value: 'low' })).rejects.toMatchObject(
    { code: expect.stringMatching(/CONFIG_VALUE_UNKNOWN|AGENT_REFUSED/u) },
  )
  expect(valuesOf(session)['effort']).toBe('high')
  expect(notices(reader)).toEqual([])
})

test.concurrent('what was set before a restart, and while the agent did not run, is set again before the next prompt [9]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    capabilities: { loadSession: true },
    settings: { modes: MODES, configOptions: [EFFORT, MODEL] },
  })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  await session.dispatch({ kind: 'set_mode', modeId: 'plan' })
  const after = await stage.killed(session.id)
  await after.session.dispatch({ kind: 'set_config_option', configId: 'effort', value: 'high' })
  await after.session.dispatch({ kind: 'set_config_option', configId: 'model', value: 'large' })
  expect(fake.processes).toEqual([])
  await prompted(after.session, after.reader, 'two')

  const second = fake.log.filter(({ pid }) => pid === fake.log.at(-1)?.pid).flatMap(({ got }) => got?.method ?? [])
  expect(second).toEqual([
    'initialize',
    'session/load',
    'session/set_config_option',
    'session/set_mode',
    'session/set_config_option',
    'session/prompt',
  ])
  expect(fake.received('session/set_config_option').map(({ configId }) => configId)).toEqual(['model', 'effort'])
  expect(valuesOf(after.session)).toMatchObject({ mode: 'plan', model: 'large', effort: 'high' })
})

test.concurrent('a setting that the agent refuses at its start is reported, and its own value counts [9]', async () => {
  await using stage = new Stage()
  stage.fake({
    capabilities: { loadSession: true },
    settings: { modes: MODES },
    on: { 'session/set_mode': [{ fail: { code: -32_602, message: 'no such mode today' } }] },
  })
  const { session, reader } = await stage.open()
  await prompted(session, reader, 'one')
  const after = await stage.killed(session.id)
  await after.session.dispatch({ kind: 'set_mode', modeId: 'plan' })
  expect(valuesOf(after.session)['mode']).toBe('plan')
  await prompted(after.session, after.reader, 'two')
  expect(valuesOf(after.session)['mode']).toBe('ask')
  expect(notices(after.reader)).toEqual([expect.stringContaining('no such mode today')])
})

const MODELS = {
  currentModelId: 'a',
  availableModels: [
    { modelId: 'a', name: 'A' },
    { modelId: 'b', name: 'B' },
  ],
}

test.concurrent.each([
  ['only models', { models: MODELS }, ['model']],
  ['only options', { configOptions: [EFFORT] }, ['effort']],
  ['both', { models: MODELS, configOptions: [MODEL, EFFORT] }, ['model', 'effort']],
  ['an unknown type', { configOptions: [{ id: 'x', name: 'X', type: 'slider', currentValue: 3 }, EFFORT] }, ['effort']],
  ['modes', { modes: MODES }, ['mode']],
])('an agent with %s has one list of options [10]', async (_, settings, ids) => {
  await using stage = new Stage()
  stage.fake({ settings })
  const { session } = await stage.open()
  expect(session.existing.settings.configOptions.map(({ id }) => id)).toEqual(ids)
})

test.concurrent('a model from `models` is chosen by the verb that the agent understands [10]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({ settings: { models: MODELS } }, { quirks: { modelVerb: 'set_model' } })
  const { session } = await stage.open()
  await until(() => fake.sessions.length > 0)
  await session.dispatch({ kind: 'set_config_option', configId: 'model', value: 'b' })
  await until(() => fake.received('session/set_model').length > 0)
  expect(fake.received('session/set_model')).toEqual([{ sessionId: 'fake-1', modelId: 'b' }])
  await until(() => valuesOf(session)['model'] === 'b')
})

test.concurrent('the last list of commands counts, whenever it comes, also in a cold load [11]', async () => {
  const commands = (...names: readonly string[]) => ({
    update: {
      sessionUpdate: 'available_commands_update',
      availableCommands: names.map((name) => ({ name, description: `do ${name}` })),
    },
  })
  await using stage = new Stage()
  const fake = stage.fake({
    capabilities: { loadSession: true },
    on: {
      'session/new': [
        commands('early'),
        { answer: { sessionId: '{session}' } },
        { gate: 'later' },
        commands('one', 'two'),
      ],
    },
    prompts: { none: [commands()] },
  })
  const names = (session: Session) => session.existing.commands.map(({ name }) => name)
  const { session, reader } = await stage.open()
  await until(() => names(session).includes('early'))
  fake.open('later')
  await until(() => names(session).includes('two'))
  await prompted(session, reader, 'hi')
  const after = await stage.killed(session.id)
  expect(names(after.session)).toEqual(['one', 'two'])
  expect(fake.processes).toEqual([])
  await prompted(after.session, after.reader, 'none')
  await until(() => names(after.session).length === 0)
})

test.concurrent('an agent that says nothing of its settings when it is reopened still has them, and gets the values again [9]', async () => {
  await using stage = new Stage()
  const fake = stage.fake({
    capabilities: { sessionCapabilities: { resume: {} } },
    settings: { modes: MODES, configOptions: [EFFORT] },
    on: { 'session/resume': [{ answer: null }] },
  })
  const first = await stage.open()
  await first.session.dispatch({ kind: 'set_mode', modeId: 'plan' })
  await first.session.dispatch({ kind: 'set_config_option', configId: 'effort', value: 'high' })
  await prompted(first.session, first.reader, 'one')
  const { session, reader } = await stage.killed(first.session.id)
  await prompted(session, reader, 'two')
  expect(valuesOf(session)).toMatchObject({ mode: 'plan', effort: 'high' })
  expect(session.existing.settings.modes?.availableModes).toHaveLength(3)
  expect(fake.received('session/set_mode').map(({ modeId }) => modeId)).toEqual(['plan', 'plan'])
  expect(fake.received('session/set_config_option').map(({ value }) => value)).toEqual(['high', 'high'])
  // Neither has another session of this agent lost them.
  expect(valuesOf((await stage.open()).session)).toMatchObject({ mode: 'ask', effort: 'low' })
})

test.concurrent('modes that say how much an agent thinks are shown as that, and not as modes', async () => {
  const levels = { currentModeId: 'low', availableModes: ['low', 'high'].map((id) => ({ id, name: id })) }
  await using stage = new Stage()
  const fake = stage.fake({ settings: { modes: levels } }, { quirks: { modesAre: 'thought_level' } })
  const { session } = await stage.open()
  await until(() => fake.received('session/new').length === 1)
  expect(session.existing.settings.configOptions).toMatchObject([{ id: 'mode', category: 'thought_level' }])
  await session.dispatch({ kind: 'set_config_option', configId: 'mode', value: 'high' })
  await until(() => fake.received('session/set_mode').some(({ modeId }) => modeId === 'high'))
})

test.concurrent('the first prompt of a new session comes after the settings that it begins with [9]', async () => {
  await using stage = new Stage()
  const fake = stage.fake(
    {
      settings: { configOptions: [EFFORT] },
      on: { 'session/set_config_option': [{ gate: 'set' }, { mark: 'is set' }] },
    },
    { options: { effort: 'high' } },
  )
  stage.fake({}, { name: 'other' })
  const { session, reader } = await stage.open()
  await fake.until(({ mark }) => mark === 'at set')
  const promptId = await sent(session, 'go')
  // Another agent is started and prompted meanwhile, which takes far longer.
  const other = await stage.open('acp:other')
  await prompted(other.session, other.reader, 'hi')
  fake.open('set')
  await endOf(reader, promptId)
  const told = fake.log.flatMap(({ mark, got }) => mark ?? (got?.method === 'session/prompt' ? ['prompt'] : []))
  expect(told).toEqual(['at set', 'is set', 'prompt'])
})
