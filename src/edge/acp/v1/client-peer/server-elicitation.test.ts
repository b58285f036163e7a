/** An MCP server that asks for input while one of its tools runs: the client of the turn is asked, or the request is declined with a reason. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Elicitation, ElicitationAnswer } from '../../../../ports/values/elicitation.ts'
import type { Fields, Message } from '../../../../../test/e2e/message.ts'
import { type Street, cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import { text } from '../../../../../test/sim/words.ts'

cleanUp()

const SCHEMA = { type: 'object', properties: { day: { type: 'string', format: 'date' } } }
const FORM: Elicitation = { mode: 'form', server: 'travel', message: 'Which day?', schema: SCHEMA }
const PAGE: Elicitation = { mode: 'url', server: 'travel', message: 'Pay', url: 'https://travel.example/pay' }

let street: Street
let answers: (ElicitationAnswer | undefined)[]

beforeEach(() => {
  street = openStreet()
  answers = []
})

/** A session whose agent books by a tool whose server asks this meanwhile. */
async function booking(question: Elicitation, elicitation: Fields) {
  street.house.tools.add('travel__book', async (_args, { onElicit }) => {
    answers.push(await onElicit?.(question))
    return { content: [text('Done.')], isError: false }
  })
  street.house.agent.script = async (turn) => {
    const request = { name: 'travel__book', args: {}, permission: 'granted', toolCallId: 'c1' } as const
    const { content } = await turn.call(request)
    for (const block of content) await turn.say(block)
    return 'end_turn'
  }
  const ada = await street.client({ clientCapabilities: { elicitation } })
  const bob = await street.client({ clientCapabilities: { elicitation: { form: {}, url: {} } } })
  const sessionId = await create(ada)
  await bob.request('session/load', opening(sessionId))
  return { ada, bob, sessionId, id: ada.ask('session/prompt', prompt(sessionId, 'Book')) }
}

const isAsked = ({ method }: Message) => method === 'elicitation/create'

describe('a server that asks while its tool runs', () => {
  test('asks the client of the prompt about that call, and no other client', async () => {
    const { ada, bob, id } = await booking(FORM, { form: {} })
    const { id: requestId, params } = await ada.until(isAsked)
    expect(params).toMatchObject({ mode: 'form', toolCallId: 'c1', message: 'travel: Which day?' })
    ada.send({ id: requestId, result: { action: 'accept', content: { day: '2026-05-01' } } })
    await ada.answerTo(id)
    expect(answers).toEqual([{ action: 'accept', content: { day: '2026-05-01' } }])
    expect(bob.received.filter(isAsked)).toEqual([])
    expect(ada.text).toBe('Done.')
  })

  test.each<readonly [what: string, question: Elicitation, offered: Fields]>([
    ['forms', FORM, { url: {} }],
    ['pages', PAGE, { form: {} }],
    ['pages, and no form takes their place', PAGE, { form: {} }],
    ['anything', FORM, {}],
  ])('is declined with a reason for a client that does not advertise %s', async (_what, question, offered) => {
    const { ada, bob, id } = await booking(question, offered)
    await ada.answerTo(id)
    expect(answers).toEqual([{ action: 'decline' }])
    expect(ada.text).toContain('which this client does not offer. It was declined.')
    expect([...ada.received, ...bob.received].filter(isAsked)).toEqual([])
    const call = bob.updates.findLast(({ update }) => update['toolCallId'] === 'c1')
    expect(JSON.stringify(call)).toContain('It was declined.')
  })

  test('may not ask for a secret by a form', async () => {
    const schema = { type: 'object', properties: { password: { type: 'string' } } }
    const { ada, id } = await booking({ ...FORM, schema }, { form: {} })
    await ada.answerTo(id)
    expect(answers).toEqual([{ action: 'cancel' }])
    expect(ada.text).toContain('a form must never ask for one')
    expect(ada.received.filter(isAsked)).toEqual([])
  })

  test('gets no values that do not fit the form [U6]', async () => {
    const { ada, id } = await booking(FORM, { form: {} })
    ada.send({ id: (await ada.until(isAsked)).id, result: { action: 'accept', content: { day: 'tomorrow' } } })
    await ada.answerTo(id)
    expect(answers).toEqual([{ action: 'cancel' }])
    expect(ada.text).toContain('“day” is not written as date')
  })

  test('gets a cancel when the client disconnects [U5]', async () => {
    const { ada, bob } = await booking(FORM, { form: {} })
    await ada.until(isAsked)
    await ada.leave()
    await bob.until((message) => JSON.stringify(message).includes('The client disconnected'))
    expect(answers).toEqual([{ action: 'cancel' }])
  })
})
