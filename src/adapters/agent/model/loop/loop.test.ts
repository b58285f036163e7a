/** The model loop: for each output of a model, what happens, what is stored, and what the model receives next. */
import { describe, expect, test } from 'vitest'
import { ask, begin, ends, houseWith, inhabited, settled, story, until } from '../../../../../test/model/given.ts'
import { breaks, calls, end, hangs, says } from '../../../../../test/model/puppet-model.ts'
import { cancel } from '../../../../../test/sim/words.ts'
import { type House, here } from '../../../../../test/sim/house.ts'

const ok = (words: string) => async () => ({ content: [{ type: 'text', text: words }] as const, isError: false })

function withTool(house: House, name: string, { words = 'done', readOnly = true } = {}): House {
  house.tools.add(name, ok(words), { builtin: true, readOnly })
  return house
}

describe('a turn', () => {
  test('without tools is one step, and the next turn continues the conversation', async () => {
    const { house, model } = houseWith([says('Hello Ada.'), says('You are Ada.')])
    const { session, reader } = await house.open()
    await ask(session, 'p1', 'I am Ada')
    await ask(session, 'p2', 'Who am I?')
    expect(reader.text).toBe('Hello Ada.You are Ada.')
    expect(ends(reader.entries)).toEqual(['end_turn', 'end_turn'])
    expect(story(model.requests[1]?.messages ?? [])).toEqual(['user: I am Ada', 'model: Hello Ada.', 'user: Who am I?'])
  })

  test('runs what the model calls and sends it the results', async () => {
    const { house, model } = houseWith([calls({ id: 'c1', name: 'look' }), says('I saw it.')])
    withTool(house, 'look', { words: 'a cat' })
    const { session, reader } = await house.open()
    await ask(session, 'p1', 'Look!')
    expect(story(model.requests[1]?.messages ?? [])).toEqual(['user: Look!', 'call: c1', 'result c1: a cat'])
    expect(reader.text).toBe('I saw it.')
    expect(house.tools.called).toEqual(['look'])
  })

  test('has the MCP resources that its prompt mentions, and is notified once when they change', async () => {
    const { house, model } = houseWith([
      says('I see.'),
      calls({ id: 'c1', name: 'look' }),
      says('Changed.'),
      says('Yes.'),
    ])
    withTool(house, 'look')
    house.tools.texts.set('doc://a', 'The whole text.')
    const session = await house.sessions.create({
      ...here,
      mcpServers: [{ type: 'http', name: 's', url: '', headers: [] }],
    })
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
    const { house } = houseWith([
      async function* () {
        yield end([{ kind: 'text', text: 'No' }], { reason })
      },
    ])
    const { session, reader } = await house.open()
    await ask(session, 'p1')
    expect(ends(reader.entries)).toEqual([stop])
  })

  test('in which the model answers with nothing says that', async () => {
    const { house } = houseWith([says('')])
    const { session, reader } = await house.open()
    await ask(session, 'p1')
    expect(ends(reader.entries)).toEqual(['end_turn'])
    expect(JSON.stringify(reader.entries)).toContain('answered with nothing.')
  })

  test('that is refused is no part of the next request to the model', async () => {
    const refuses = async function* () {
      yield end([{ kind: 'text', text: 'No' }], { reason: 'refusal' as const })
    }
    const { house, model } = houseWith([says('Hello.'), refuses, says('Fine.'), says('Still fine.')])
    const { session } = await house.open()
    await ask(session, 'p1', 'I am Ada')
    await ask(session, 'p2', 'Something bad')
    await ask(session, 'p3', 'And now?')
    const told = story(model.requests[2]?.messages ?? [])
    expect(told).toEqual(['user: I am Ada', 'model: Hello.', 'user: And now?'])
    await ask(session, 'p4', 'Still?')
    expect(story(model.requests[3]?.messages ?? [])).toEqual([...told, 'model: Fine.', 'user: Still?'])
  })

  test('sends with each step the tools of that moment [T10]', async () => {
    const { house, model } = houseWith([calls({ id: 'c1', name: 'b' }), says('Done.')])
    house.tools.add(
      'b',
      async () => {
        house.tools.tools.delete('b')
        withTool(house, 'a')
        return { content: [], isError: false }
      },
      { builtin: true, readOnly: true },
    )
    const { session } = await house.open()
    await ask(session, 'p1')
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['b'], ['a']])
  })
})

describe('calls of one step', () => {
  test('run in parallel when all of them only read', async () => {
    const { house } = houseWith([calls({ id: 'c1', name: 'slow' }, { id: 'c2', name: 'quick' }), says('Done.')])
    let release = (): void => {}
    const both = new Promise<void>((resolve) => (release = resolve))
    house.tools.add('slow', async () => (await both, { content: [], isError: false }), {
      builtin: true,
      readOnly: true,
    })
    house.tools.add('quick', async () => (release(), { content: [], isError: false }), {
      builtin: true,
      readOnly: true,
    })
    const { session, reader } = await house.open()
    await ask(session, 'p1')
    expect(ends(reader.entries)).toEqual(['end_turn'])
  })

  test('run in order when one of them may change something', async () => {
    const { house } = houseWith([
      calls({ id: 'c1', name: 'read' }, { id: 'c2', name: 'write' }, { id: 'c3', name: 'read' }),
      says('Done.'),
    ])
    withTool(withTool(house, 'read'), 'write', { words: 'done', readOnly: false })
    const { session } = await house.open()
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
    expect(story(model.requests[1]?.messages ?? []).slice(3)).toEqual([
      'error c1: There is no tool nowhere now.',
      'error c2: The arguments are not valid JSON, or too long or too deep to be read: {"a":',
    ])
    expect(house.tools.called).toHaveLength(64)
    expect(story(model.requests[2]?.messages ?? []).at(-1)).toMatch(/^error m999: Not run: only 64/u)
  })

  test('that fail again and again in the same way get a warning', async () => {
    const again = Array.from({ length: 3 }, (_, at) => calls({ id: `c${at}`, name: 'nowhere', args: { a: 1 } }))
    const { house, model } = houseWith([...again, says('I give up.')])
    const { session } = await house.open()
    await ask(session, 'p1')
    expect(story(model.requests[2]?.messages ?? []).at(-1)).not.toContain('has failed')
    expect(story(model.requests[3]?.messages ?? []).at(-1)).toContain('has failed 3 times')
  })
})

describe('an interrupted turn', () => {
  test('by a cancel keeps its text, and the model is informed', async () => {
    const { house, model } = houseWith([hangs('Half a sen'), says('Go on.')])
    const { session, reader } = await house.open()
    await begin(session, 'p1')
    await until(() => reader.text === 'Half a sen')
    await session.dispatch(cancel())
    await settled(session)
    expect(ends(reader.entries)).toEqual(['cancelled'])
    await ask(session, 'p2', 'continue')
    expect(story(model.requests[1]?.messages ?? [])).toEqual([
      'user: Hello',
      'model: Half a sen',
      'user: [Your answer was cut off here; people saw what stands above.] | continue',
    ])
  })

  test('by a kill in a stream continues with the text that clients received', async () => {
    const { house, model } = houseWith([hangs('Half a sen'), says('tence.'), says('Bye.')])
    const { session, reader } = await house.open()
    await begin(session, 'p1')
    await until(() => reader.text === 'Half a sen')
    const { house: next, session: reopened } = await house.killed(session)
    inhabited(next, model)
    await ask(reopened, 'p2', 'continue')
    await ask(reopened, 'p3', 'bye')
    expect(story(model.requests[1]?.messages ?? []).slice(1)).toEqual([
      'model: Half a sen',
      'user: [Your answer was cut off here; people saw what stands above.] | continue',
    ])
    expect(begins(model.sent[2], model.sent[1])).toBe(true)
  })

  test('by a kill in a tool call has one result for the call', async () => {
    const { house, model } = houseWith([
      calls({ id: 'c1', name: 'look' }, { id: 'c2', name: 'stuck' }),
      says('I see.'),
      says('Bye.'),
    ])
    withTool(house, 'look', { words: 'a cat' })
    house.tools.add('stuck', () => new Promise(() => {}), { builtin: true, readOnly: true })
    const { session, reader } = await house.open()
    await begin(session, 'p1')
    await until(() => reader.entries.some((entry) => JSON.stringify(entry).includes('"kind":"result"')))
    const { house: next, session: reopened } = await house.killed(session)
    inhabited(withTool(next, 'look'), model)
    await ask(reopened, 'p2', 'continue')
    expect(story(model.requests[1]?.messages ?? [])).toEqual([
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

describe('a permission request that waits through a restart', () => {
  const answers = [
    calls({ id: 'c1', name: 'look' }, { id: 'c2', name: 'write' }, { id: 'c3', name: 'look' }),
    says('Written.'),
  ]

  test.each([
    ['allow_once', ['write', 'look'], 'result c2: written'],
    ['reject_once', ['look'], 'error c2: Not allowed. The tool was not run.'],
  ])('continues with %s, and nothing runs twice', async (optionId, called, told) => {
    const { house, model } = houseWith(answers)
    withTool(withTool(house, 'look', { words: 'a cat' }), 'write', { words: 'written', readOnly: false })
    const { session } = await house.open()
    await ask(session, 'p1')
    expect(house.tools.called).toEqual(['look'])
    const { house: next, session: reopened, reader } = await house.killed(session)
    inhabited(
      withTool(withTool(next, 'look', { words: 'a dog' }), 'write', { words: 'written', readOnly: false }),
      model,
    )
    const { state } = reopened
    if (state.phase !== 'suspended') throw new Error(`it is not suspended: ${state.phase}`)
    await reopened.dispatch({ kind: 'answer', requestId: state.questions[0]?.requestId ?? '', optionId })
    await settled(reopened)
    expect(next.tools.called).toEqual(called)
    expect(ends(reader.entries)).toEqual(['end_turn'])
    expect(story(model.requests[1]?.messages ?? []).slice(-3)).toEqual(['result c1: a cat', told, 'result c3: a dog'])
  })
})

describe('a model that fails', () => {
  test('permanently ends the turn with the error, and the next turn has it', async () => {
    const { house, model } = houseWith([breaks('Half', new Error('The key is wrong.')), says('Fine.')])
    const { session, reader } = await house.open()
    await ask(session, 'p1')
    expect(reader.entries.at(-1)).toMatchObject({ stopReason: 'error', error: { message: 'The key is wrong.' } })
    await ask(session, 'p2')
    expect(story(model.requests[1]?.messages ?? [])[1]).toBe('model: Half')
  })
})

/** Each request begins with the messages of the one before. */
function begins(later = '', before = '-'): boolean {
  return later.startsWith(before.slice(0, -1))
}
