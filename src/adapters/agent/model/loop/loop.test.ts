/** The model loop: for each output of a model, what happens, what is stored, and what the model receives next. */
import { describe, expect, test } from 'vitest'
import {
  ask,
  begin,
  ends,
  houseWith,
  inhabited,
  openWith,
  settled,
  toldTo,
  until,
} from '../../../../../test/model/given.ts'
import { breaks, calls, end, hangs, says } from '../../../../../test/model/puppet-model.ts'
import { cancel } from '../../../../../test/sim/words.ts'
import { type House, here } from '../../../../../test/sim/house.ts'

const NOTHING = { content: [], isError: false }

function withTool(house: House, name: string, { words = 'done', readOnly = true } = {}): House {
  const result = { content: [{ type: 'text', text: words }] as const, isError: false }
  house.tools.add(name, async () => result, { builtin: true, readOnly })
  return house
}

function reading(house: House, name: string, work: () => Promise<typeof NOTHING>): void {
  house.tools.add(name, work, { builtin: true, readOnly: true })
}

const refuses = ending('refusal')

function ending(reason: 'length' | 'refusal' | 'other') {
  return async function* () {
    yield end([{ kind: 'text', text: 'No' }], { reason })
  }
}

describe('a turn', () => {
  test('without tools is one step, and the next turn continues the conversation', async () => {
    const { model, session, reader } = await openWith([says('Hello Ada.'), says('You are Ada.')])
    await ask(session, 'p1', 'I am Ada')
    await ask(session, 'p2', 'Who am I?')
    expect(reader.text).toBe('Hello Ada.You are Ada.')
    expect(ends(reader.entries)).toEqual(['end_turn', 'end_turn'])
    expect(toldTo(model, 1)).toEqual(['user: I am Ada', 'model: Hello Ada.', 'user: Who am I?'])
  })

  test('runs what the model calls and sends it the results', async () => {
    const { house, model, session, reader } = await openWith([calls({ id: 'c1', name: 'look' }), says('I saw it.')])
    withTool(house, 'look', { words: 'a cat' })
    await ask(session, 'p1', 'Look!')
    expect(toldTo(model, 1)).toEqual(['user: Look!', 'call: c1', 'result c1: a cat'])
    expect(reader.text).toBe('I saw it.')
    expect(house.tools.called).toEqual(['look'])
  })

  test('has the MCP resources that its prompt mentions, and is notified once when they change', async () => {
    const call = calls({ id: 'c1', name: 'look' })
    const { house, model } = houseWith([says('I see.'), call, says('Changed.'), says('Yes.')])
    withTool(house, 'look')
    house.tools.texts.set('doc://a', 'The whole text.')
    const mcpServers = [{ type: 'http', name: 's', url: '', headers: [] }] as const
    const session = await house.sessions.create({ ...here, mcpServers })
    await ask(session, 'p1', 'Read @s:doc://a, and @s:doc://none; mail a@s:doc://b and @other:doc://a')
    const [asked] = model.requests[0]?.messages ?? []
    expect(asked?.role === 'user' ? asked.content.slice(1) : []).toEqual([
      { type: 'resource', resource: { uri: 'doc://a', text: 'The whole text.' } },
      { type: 'text', text: '[@s:doc://none could not be read: there is no such thing]' },
    ])
    house.tools.resources = [{ server: 's', uri: 'doc://a', title: 'a', description: '', changed: true }]
    await ask(session, 'p2', 'And now?')
    await ask(session, 'p3', 'Sure?')
    expect(JSON.stringify(model.requests.at(-1)?.messages).match(/Changed since it was read/gu)).toHaveLength(1)
  })

  test('ends at the limit of steps', async () => {
    const forever = Array.from({ length: 10 }, (_, at) => calls({ id: `c${at}`, name: 'look' }))
    const { house } = houseWith(forever, { maxSteps: 3 })
    const { session, reader } = await withTool(house, 'look').open()
    await ask(session, 'p1')
    expect(ends(reader.entries)).toEqual(['max_steps'])
    expect(house.tools.called).toHaveLength(3)
  })

  test.each([
    ['length', 'max_tokens'],
    ['refusal', 'refusal'],
    ['other', 'end_turn'],
  ] as const)('that the model ends with %s stops as %s', async (reason, stop) => {
    const { session, reader } = await openWith([ending(reason)])
    await ask(session, 'p1')
    expect(ends(reader.entries)).toEqual([stop])
  })

  test('in which the model answers with nothing says that', async () => {
    const { session, reader } = await openWith([says('')])
    await ask(session, 'p1')
    expect(ends(reader.entries)).toEqual(['end_turn'])
    expect(JSON.stringify(reader.entries)).toContain('answered with nothing.')
  })

  test('that is refused is no part of the next request to the model', async () => {
    const { model, session } = await openWith([says('Hello.'), refuses, says('Fine.'), says('Still fine.')])
    await ask(session, 'p1', 'I am Ada')
    await ask(session, 'p2', 'Something bad')
    await ask(session, 'p3', 'And now?')
    const told = toldTo(model, 2)
    expect(told).toEqual(['user: I am Ada', 'model: Hello.', 'user: And now?'])
    await ask(session, 'p4', 'Still?')
    expect(toldTo(model, 3)).toEqual([...told, 'model: Fine.', 'user: Still?'])
  })

  test('sends with each step the tools of that moment [T10]', async () => {
    const { house, model, session } = await openWith([calls({ id: 'c1', name: 'b' }), says('Done.')])
    reading(house, 'b', async () => {
      house.tools.tools.delete('b')
      withTool(house, 'a')
      return NOTHING
    })
    await ask(session, 'p1')
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['b'], ['a']])
  })
})

describe('calls of one step', () => {
  test('run in parallel when all of them only read', async () => {
    const step = calls({ id: 'c1', name: 'slow' }, { id: 'c2', name: 'quick' })
    const { house, session, reader } = await openWith([step, says('Done.')])
    let release = (): void => {}
    const both = new Promise<void>((resolve) => (release = resolve))
    reading(house, 'slow', async () => (await both, NOTHING))
    reading(house, 'quick', async () => (release(), NOTHING))
    await ask(session, 'p1')
    expect(ends(reader.entries)).toEqual(['end_turn'])
  })

  test('run in order when one of them may change something', async () => {
    const { house, session } = await openWith([
      calls({ id: 'c1', name: 'read' }, { id: 'c2', name: 'write' }, { id: 'c3', name: 'read' }),
      says('Done.'),
    ])
    withTool(withTool(house, 'read'), 'write', { words: 'done', readOnly: false })
    await ask(session, 'p1')
    expect(house.tools.called).toEqual(['read'])
    const { state } = session
    if (state.phase !== 'waiting') throw new Error(`it does not wait: ${state.phase}`)
    await session.dispatch({ kind: 'answer', requestId: state.questions[0]?.requestId ?? '', optionId: 'allow_once' })
    await settled(session)
    expect(house.tools.called).toEqual(['read', 'write', 'read'])
  })

  test('that are unknown, malformed or too many get a result that says so, and harm no other call', async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => ({ id: `m${at}`, name: 'look' }))
    const { house, model } = houseWith([
      calls({ id: 'c1', name: 'nowhere' }, { id: 'c2', name: 'look', malformed: '{"a":' }),
      calls(...many),
      says('Enough.'),
    ])
    // A thousand refusals are long.
    model.contextWindow = 1_000_000
    const { session, reader } = await withTool(house, 'look').open()
    await ask(session, 'p1')
    expect(ends(reader.entries)).toEqual(['end_turn'])
    expect(toldTo(model, 1).slice(3)).toEqual([
      'error c1: There is no tool nowhere now.',
      'error c2: The arguments are not valid JSON, or too long or too deep to be read: {"a":',
    ])
    expect(house.tools.called).toHaveLength(64)
    expect(toldTo(model, 2).at(-1)).toMatch(/^error m999: Not run: only 64/u)
  })

  test('that fail again and again in the same way get a warning', async () => {
    const again = Array.from({ length: 3 }, (_, at) => calls({ id: `c${at}`, name: 'nowhere', args: { a: 1 } }))
    const { model, session } = await openWith([...again, says('I give up.')])
    await ask(session, 'p1')
    expect(toldTo(model, 2).at(-1)).not.toContain('has failed')
    expect(toldTo(model, 3).at(-1)).toContain('has failed 3 times')
  })
})

describe('an interrupted turn', () => {
  test('by a cancel keeps its text, and the model is informed', async () => {
    const { model, session, reader } = await openWith([hangs('Half a sen'), says('Go on.')])
    await begin(session, 'p1')
    await until(() => reader.text === 'Half a sen')
    await session.dispatch(cancel())
    await settled(session)
    expect(ends(reader.entries)).toEqual(['cancelled'])
    await ask(session, 'p2', 'continue')
    expect(toldTo(model, 1)).toEqual([
      'user: Hello',
      'model: Half a sen',
      'user: [Your answer was cut off here; people saw what stands above.] | continue',
    ])
  })

  test('by a kill in a stream continues with the text that clients received', async () => {
    const { house, model, session, reader } = await openWith([hangs('Half a sen'), says('tence.'), says('Bye.')])
    await begin(session, 'p1')
    await until(() => reader.text === 'Half a sen')
    const { house: next, session: reopened } = await house.killed(session)
    inhabited(next, model)
    await ask(reopened, 'p2', 'continue')
    await ask(reopened, 'p3', 'bye')
    expect(toldTo(model, 1).slice(1)).toEqual([
      'model: Half a sen',
      'user: [Your answer was cut off here; people saw what stands above.] | continue',
    ])
    expect(begins(model.sent[2], model.sent[1])).toBe(true)
  })

  test('by a kill in a tool call has one result for the call', async () => {
    const { house, model, session, reader } = await openWith([
      calls({ id: 'c1', name: 'look' }, { id: 'c2', name: 'stuck' }),
      says('I see.'),
      says('Bye.'),
    ])
    withTool(house, 'look', { words: 'a cat' })
    reading(house, 'stuck', () => new Promise(() => {}))
    await begin(session, 'p1')
    await until(() => reader.entries.some((entry) => JSON.stringify(entry).includes('"kind":"result"')))
    const { house: next, session: reopened } = await house.killed(session)
    inhabited(withTool(next, 'look'), model)
    await ask(reopened, 'p2', 'continue')
    expect(toldTo(model, 1)).toEqual([
      'user: Hello',
      'call: c1',
      'call: c2',
      'result c1: a cat',
      'error c2: Interrupted; it may have run.',
      'user: [The turn before was cut off before you had answered.] | continue',
    ])
    const { house: third, session: again } = await next.killed(reopened)
    inhabited(third, model)
    await ask(again, 'p3', 'bye')
    expect(begins(model.sent[2], model.sent[1])).toBe(true)
    expect(third.tools.called).toEqual([])
  })
})

const answers = [
  calls({ id: 'c1', name: 'look' }, { id: 'c2', name: 'write' }, { id: 'c3', name: 'look' }),
  says('Written.'),
]

test.each([
  ['allow_once', ['write', 'look'], 'result c2: written'],
  ['reject_once', ['look'], 'error c2: Not allowed. The tool was not run.'],
])(
  'a permission request that waits through a restart continues with %s, and nothing runs twice',
  async (optionId, called, told) => {
    const { house, model, session } = await openWith(answers)
    withTool(withTool(house, 'look', { words: 'a cat' }), 'write', { words: 'written', readOnly: false })
    await ask(session, 'p1')
    expect(house.tools.called).toEqual(['look'])
    const { house: next, session: reopened, reader } = await house.killed(session)
    withTool(withTool(next, 'look', { words: 'a dog' }), 'write', { words: 'written', readOnly: false })
    inhabited(next, model)
    const { state } = reopened
    if (state.phase !== 'suspended') throw new Error(`it is not suspended: ${state.phase}`)
    await reopened.dispatch({ kind: 'answer', requestId: state.questions[0]?.requestId ?? '', optionId })
    await settled(reopened)
    expect(next.tools.called).toEqual(called)
    expect(ends(reader.entries)).toEqual(['end_turn'])
    expect(toldTo(model, 1).slice(-3)).toEqual(['result c1: a cat', told, 'result c3: a dog'])
  },
)

test('a model that fails permanently ends the turn with the error, and the next turn has it', async () => {
  const { model, session, reader } = await openWith([breaks('Half', new Error('The key is wrong.')), says('Fine.')])
  await ask(session, 'p1')
  expect(reader.entries.at(-1)).toMatchObject({ stopReason: 'error', error: { message: 'The key is wrong.' } })
  await ask(session, 'p2')
  expect(toldTo(model, 1)[1]).toBe('model: Half')
})

/** Each request begins with the messages of the one before. */
function begins(later = '', before = '-'): boolean {
  return later.startsWith(before.slice(0, -1))
}
