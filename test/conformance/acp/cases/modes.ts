/** Modes, config options and slash commands: what a client can set, and what it is told of it. */
import type { Fields } from '../../../e2e/message.ts'
import { type Case, every, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { accepting, onResult, onUpdate, refusing } from '../mutant.ts'
import { fieldsOf, listOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'

const MODES = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code', description: 'Writes' },
  ],
}
const choices = [
  { value: 'small', name: 'Small' },
  { value: 'large', name: 'Large' },
]
const MODEL = { id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: 'small', options: choices }
const DEPTH = {
  id: 'depth',
  name: 'Depth',
  type: 'select',
  currentValue: 'large',
  options: [{ group: 'g', name: 'G', options: choices }],
}
const LOUD = { id: 'loud', name: 'Loud', type: 'boolean', currentValue: false }
const MODE = {
  id: 'mode',
  name: 'Mode',
  category: 'mode',
  type: 'select',
  currentValue: 'ask',
  options: [
    { value: 'ask', name: 'Ask' },
    { value: 'code', name: 'Code' },
  ],
}
const BOOLEAN = { session: { configOptions: { boolean: {} } } }

const modal = (...steps: readonly Fields[]): readonly Fields[] => [
  { agent: { modes: MODES } },
  ...steps,
  { chunk: '.' },
]
const optional = (...steps: readonly Fields[]): readonly Fields[] => [
  { agent: { configOptions: [MODEL, DEPTH, LOUD] } },
  ...steps,
  { chunk: '.' },
]

async function made(stage: Stage): Promise<Fields> {
  return stage.ask('session/new', { cwd: stage.cwd, mcpServers: [] })
}

const optionsIn = (told: unknown): readonly Fields[] => listOf(fieldsOf(told)['configOptions'])
const valueOf = (options: readonly Fields[], id: string): unknown =>
  options.find((option) => option['id'] === id)?.['currentValue']

/** The last state of one kind that was told. */
async function lastOf(stage: Stage, kind: string): Promise<Fields> {
  await stage.told(kind)
  return updatesOf(stage.transcript, kind).at(-1) ?? {}
}

export const modeCases: readonly Case[] = [
  one('A-MD-1', 'a known mode can be set, an unknown one cannot', {
    script: modal(),
    play: async (stage) => {
      const { sessionId, modes } = await made(stage)
      const set = await stage.a.request('session/set_mode', { sessionId, modeId: 'code' })
      return { modes, set, bad: await stage.a.request('session/set_mode', { sessionId, modeId: 'fly' }) }
    },
    check: ({ modes, set, bad }, transcript) =>
      first(
        unless(fieldsOf(modes)['currentModeId'] === 'ask', 'the session has no modes'),
        unless(set.result !== undefined, `refused: ${set.error?.message}`),
        unless(bad.error !== undefined, 'a mode that is not there was taken'),
        law('A-MD-1')(modes, transcript),
      ),
    mutant: accepting('session/set_mode'),
  }),
  one('A-MD-1', 'a mode can be set while a turn runs', {
    script: modal({ sleepMs: 60_000 }),
    play: async (stage) => {
      const { sessionId } = await made(stage)
      const prompt = stage.begin(String(sessionId))
      const set = await stage.a.request('session/set_mode', { sessionId, modeId: 'code' })
      stage.a.notify('session/cancel', { sessionId })
      await stage.a.answerTo(prompt)
      return set
    },
    check: ({ error }) => unless(error === undefined, `refused: ${error?.message}`),
    mutant: refusing('session/set_mode'),
  }),
  one('A-MD-1', 'any agent’s current mode is one of its modes, and each of them can be set', {
    play: async (stage) => {
      const { sessionId, modes } = await made(stage)
      const known = listOf(fieldsOf(modes)['availableModes'])
      const refused: unknown[] = []
      for (const { id: modeId } of known.slice(0, 3))
        refused.push((await stage.a.request('session/set_mode', { sessionId, modeId })).error?.message)
      return refused
    },
    check: (refused, transcript) =>
      first(
        every(refused, (why) => why === undefined, `refused: ${String(refused)}`),
        law('A-MD-1')(refused, transcript),
      ),
    mutant: onResult('session/new', 'modes', { currentModeId: 'none', availableModes: [] }),
  }),
  one('A-MD-2', 'the agent can switch the mode itself, and sends `currentModeId`', {
    script: modal({ mode: 'code' }),
    play: (stage) => stage.turn('current_mode_update'),
    check: (told) => unless(told.at(-1)?.['currentModeId'] === 'code', 'it does not say so'),
    mutant: {
      on: { call: 'session/update', update: 'current_mode_update' },
      each: true,
      drop: 'params.update.currentModeId',
    },
  }),
  one('A-MD-2', 'a mode that was set is kept after a restart', {
    script: modal(),
    play: async (stage) => {
      const { sessionId } = await made(stage)
      await stage.ask('session/set_mode', { sessionId, modeId: 'code' })
      await stage.again()
      return stage.load(sessionId)
    },
    check: ({ modes }) =>
      unless(fieldsOf(modes)['currentModeId'] === 'code', `it is ${String(fieldsOf(modes)['currentModeId'])}`),
    mutant: onResult('session/load', 'modes.currentModeId', 'ask'),
  }),
]

export const configCases: readonly Case[] = [
  one('A-CF-1', 'every option has a value that it allows, in groups or not', {
    script: optional(),
    play: made,
    check: (result, transcript) =>
      first(unless(optionsIn(result).length >= 2, 'there are no options'), law('A-CF-1')(result, transcript)),
    mutant: onResult('session/new', 'configOptions.0.currentValue', 'huge'),
  }),
  one('A-CF-1', 'every option of any agent has a value that it allows', {
    play: made,
    check: law('A-CF-1'),
    mutant: onResult('session/new', 'configOptions', [{ ...MODEL, currentValue: 'huge' }]),
  }),
  one('A-CF-2', 'setting an option is answered with all options as they are now', {
    script: optional(),
    play: async (stage) => {
      const { sessionId } = await made(stage)
      const params = { sessionId, configId: 'model', value: 'large' }
      return optionsIn(await stage.ask('session/set_config_option', params))
    },
    check: (options) =>
      first(
        unless(options.length >= 2, 'not all are told'),
        unless(valueOf(options, 'model') === 'large', 'the change is not'),
      ),
    mutant: onResult('session/set_config_option', 'configOptions', [MODEL]),
  }),
  one('A-CF-2', 'an invalid value is refused, and so is an unknown option', {
    script: optional(),
    play: async (stage) => {
      const { sessionId } = await made(stage)
      const ask = (configId: string, value: unknown) =>
        stage.a.request('session/set_config_option', { sessionId, configId, value })
      return [await ask('model', 'huge'), await ask('colour', 'red')]
    },
    check: (answers) => every(answers, ({ error }) => error?.code === -32_602, 'it was not refused with -32602'),
    mutant: accepting('session/set_config_option', { configOptions: [MODEL] }),
  }),
  one('A-CF-3', 'a change by the agent is sent with all options', {
    script: optional({ config: { configId: 'model', value: 'large' } }),
    play: async (stage) => optionsIn((await stage.turn('config_option_update')).at(-1)),
    check: (options) =>
      first(
        unless(options.length >= 2, 'not all are told'),
        unless(valueOf(options, 'model') === 'large', 'the change is not'),
      ),
    mutant: onUpdate('config_option_update', 'configOptions', [{ ...MODEL, currentValue: 'large' }]),
  }),
  one('A-CF-4', 'boolean options are not sent to a client that does not know them', {
    script: optional({ config: { configId: 'model', value: 'large' } }),
    play: async (stage) => {
      const { sessionId } = await made(stage)
      await stage.a.request('session/set_config_option', { sessionId, configId: 'model', value: 'small' })
      await stage.prompt(String(sessionId))
    },
    check: law('A-IN-5'),
    mutant: onResult('session/new', 'configOptions', [LOUD]),
  }),
  one('A-CF-4', 'a client that knows boolean options gets them and can set them', {
    client: BOOLEAN,
    script: optional(),
    play: async (stage) => {
      const { sessionId } = await made(stage)
      const params = { sessionId, configId: 'loud', type: 'boolean', value: true }
      return optionsIn(await stage.ask('session/set_config_option', params))
    },
    check: (options) => unless(valueOf(options, 'loud') === true, 'it is not set'),
    mutant: onResult('session/set_config_option', 'configOptions', [LOUD]),
  }),
  one('A-CF-5', 'categories are those of the standard, or begin with _', {
    script: optional(),
    play: made,
    check: (result) => {
      const known = new Set(['mode', 'model', 'model_config', 'thought_level'])
      const options = optionsIn(result)
      const odd = options.find(
        ({ category }) => typeof category === 'string' && !known.has(category) && !category.startsWith('_'),
      )
      return first(
        unless(options.length > 0, 'there are no options'),
        unless(odd === undefined, `the category ${String(odd?.['category'])}`),
      )
    },
    mutant: onResult('session/new', 'configOptions.0.category', 'colour'),
  }),
  one('A-CF-6', 'options keep the order that the agent gave them', {
    script: optional(),
    play: async (stage) => {
      const { sessionId, ...result } = await made(stage)
      const answer = await stage.ask('session/set_config_option', { sessionId, configId: 'depth', value: 'small' })
      return [result, answer].map((told) =>
        optionsIn(told)
          .map(({ id }) => id)
          .join(' '),
      )
    },
    check: (orders) => every(orders, (order) => order === 'model depth', `the orders ${orders.join(' and ')}`),
    mutant: onResult('session/set_config_option', 'configOptions', [DEPTH, MODEL]),
  }),
  one('A-CF-7', 'modes and the option of the same name follow each other', {
    script: [{ agent: { modes: MODES, configOptions: [MODE, MODEL] } }, { chunk: '.' }],
    play: async (stage) => {
      const { sessionId } = await made(stage)
      await stage.ask('session/set_mode', { sessionId, modeId: 'code' })
      const option = valueOf(optionsIn(await lastOf(stage, 'config_option_update')), 'mode')
      await stage.ask('session/set_config_option', { sessionId, configId: 'mode', value: 'ask' })
      await stage.a.until(
        ({ params }) => fieldsOf(params?.['update'])['currentModeId'] === 'ask',
        'the mode that follows the option',
      )
      return option
    },
    check: (option) => unless(option === 'code', `the option is ${String(option)}`),
    mutant: onUpdate('config_option_update', 'configOptions', [MODE, MODEL]),
  }),
  one('A-CF-3', 'a change by one client reaches the other', {
    tags: ['company'],
    script: optional(),
    play: async (stage) => {
      const { sessionId } = await made(stage)
      const other = await stage.joined(sessionId)
      await stage.a.request('session/set_config_option', { sessionId, configId: 'model', value: 'large' })
      const fits = (options: readonly Fields[]): boolean => valueOf(options, 'model') === 'large'
      await other.until(({ params }) => fits(optionsIn(fieldsOf(params)['update'])), 'the change')
      return optionsIn(updatesOf(other.transcript, 'config_option_update').at(-1))
    },
    check: (options) => unless(options.length >= 2, 'not all are told'),
    mutant: onUpdate('config_option_update', 'configOptions', [{ ...MODEL, currentValue: 'large' }]),
  }),
]

const COMMANDS = [
  { name: 'plan', description: 'Plans it', hint: 'what' },
  { name: 'web', description: 'Searches' },
]

export const commandCases: readonly Case[] = [
  one('A-SL-1', 'commands are sent as a list with hints, and a later list replaces it', {
    script: [{ commands: [] }, { commands: COMMANDS }],
    play: async (stage) => {
      const told = await stage.turn('available_commands_update')
      return listOf(told.at(-1)?.['availableCommands'])
    },
    check: ([plan, web]) =>
      unless(
        plan?.['name'] === 'plan' && fieldsOf(plan['input'])['hint'] === 'what' && web?.['name'] === 'web',
        'they are not',
      ),
    mutant: onUpdate('available_commands_update', 'availableCommands', [{ name: 'plan' }]),
  }),
  one('A-SL-2', 'a slash command is sent as ordinary text', {
    play: async (stage) => {
      const sessionId = await stage.session()
      return stage.prompt(sessionId, '/help me')
    },
    check: ({ stopReason }) => unless(typeof stopReason === 'string', 'it was not taken'),
    mutant: refusing('session/prompt'),
  }),
]
