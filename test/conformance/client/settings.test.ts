/** What our client makes of an agent's options and modes, and how people set them. */
import { afterEach, describe, expect, test } from 'vitest'
import { type Book, ENDS, Scene, update } from './scene.ts'

const scenes: Scene[] = []
const scene = (offer: object, book: Book = {}): Scene => {
  const made = new Scene({
    'session/new': [{ result: { sessionId: 's', ...offer } }],
    'session/prompt': [ENDS],
    ...book,
  })
  scenes.push(made)
  return made
}
afterEach(() => {
  for (const made of scenes.splice(0)) made.close()
})

const choices = [
  { value: 'small', name: 'Small' },
  { value: 'large', name: 'Large' },
]
const MODEL = { id: 'model', name: 'Model', type: 'select', category: 'model', currentValue: 'small', options: choices }
const DEPTH = {
  id: 'depth',
  name: 'Depth',
  type: 'select',
  category: 'odd',
  currentValue: 'large',
  options: [{ group: 'g', name: 'G', options: choices }],
}
const LOUD = { id: 'loud', type: 'boolean', currentValue: false }
const DIAL = { id: 'dial', name: 'Dial', type: 'dial', currentValue: 3 }
const MODES = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code' },
  ],
}

describe('what can be set', () => {
  test('C-CF-1 are the options where there are any, and the modes only where there are none', async () => {
    const both = await scene({ modes: MODES, configOptions: [MODEL] }).connect()
    await both.newSession('/w')
    expect(both.settings('s').map(({ id, by }) => [id, by])).toEqual([['model', 'option']])
    const older = await scene({ modes: MODES }).connect()
    await older.newSession('/w')
    expect(older.settings('s')).toMatchObject([
      { id: 'mode', by: 'mode', value: 'ask', choices: [{ value: 'ask' }, {}] },
    ])
  })

  test('C-CF-2 keeps the agent’s order, accepts any category, and leaves out unknown kinds', async () => {
    const client = await scene({ configOptions: [DIAL, DEPTH, null, LOUD, MODEL] }).connect()
    await client.newSession('/w')
    expect(client.settings('s').map(({ id, category, value }) => [id, category, value])).toEqual([
      ['depth', 'odd', 'large'],
      ['loud', null, false],
      ['model', 'model', 'small'],
    ])
    expect(client.settings('s')[0]?.choices).toEqual(choices)
  })

  test('C-CF-1 follows what the agent tells, all options at once', async () => {
    const told = { sessionUpdate: 'config_option_update', configOptions: [{ ...MODEL, currentValue: 'large' }] }
    const agent = scene({ configOptions: [MODEL, LOUD] }, { 'session/prompt': [update(told), ENDS] })
    const client = await agent.connect()
    await client.newSession('/w')
    await client.prompt('s', 'go')
    expect(client.settings('s')).toMatchObject([{ id: 'model', value: 'large' }])
  })
})

describe('parley run --option', () => {
  const answer = [
    {
      result: {
        configOptions: [
          { ...MODEL, currentValue: 'large' },
          { ...LOUD, currentValue: true },
        ],
      },
    },
  ]

  test('sets options by their names before the prompt', async () => {
    const agent = scene({ modes: MODES, configOptions: [MODEL, LOUD] }, { 'session/set_config_option': answer })
    expect(await agent.run('--option', 'model=large', '--option', 'loud=true')).toMatchObject({ code: 0 })
    const set = agent.messages.filter(({ method }) => method === 'session/set_config_option')
    expect(set.map(({ params }) => params)).toEqual([
      { sessionId: 's', configId: 'model', value: 'large' },
      { sessionId: 's', configId: 'loud', type: 'boolean', value: true },
    ])
    expect(agent.methods.at(-1)).toBe('session/prompt')
  })

  test('sets the mode of an agent that has no options', async () => {
    const agent = scene({ modes: MODES }, { 'session/set_mode': [{ result: {} }] })
    expect(await agent.run('--option', 'mode=code')).toMatchObject({ code: 0 })
    expect(agent.paramsOf('session/set_mode')).toEqual({ sessionId: 's', modeId: 'code' })
  })

  test.each([
    ['colour=red', 'It has: model'],
    ['model=huge', 'It can be: small, large'],
    ['model', 'must be NAME=VALUE'],
  ])('with %s asks the agent nothing, and says what there is', async (wish, why) => {
    const agent = scene({ configOptions: [MODEL] })
    const { code, stderr } = await agent.run('--option', wish)
    expect(code).not.toBe(0)
    expect(stderr).toContain(why)
    expect(agent.methods).not.toContain('session/prompt')
  })
})
