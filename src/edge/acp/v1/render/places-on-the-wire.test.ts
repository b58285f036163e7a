/** Sequence numbers and turn ids of updates, and outcomes of permission requests, for clients that asked for them. */
import { describe, expect, test } from 'vitest'
import type { Fields } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { type Script, answerIn } from '../../../../../test/sim/puppet.ts'
import { cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import { options, text } from '../../../../../test/sim/words.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'

cleanUp()

const asks: Script = async (turn) => {
  const outcome =
    answerIn(turn) ?? (await turn.ask({ toolCallId: 'c1', patch: { title: 'Delete it' }, options, state: null }))
  await turn.say(text(outcome.outcome === 'selected' ? outcome.kind : 'no'))
  return 'end_turn'
}

const wants = (name: string): Fields => ({
  clientInfo: { name, version: '1' },
  clientCapabilities: { _meta: { 'parley/places': {}, 'parley/notifications': ['resolved'] } },
})

const placesIn = ({ received }: WireClient): readonly Fields[] =>
  received.flatMap(({ method, params }) => (method === 'session/update' ? [params?.['_meta'] as Fields] : []))

const resolvedIn = ({ received }: WireClient) =>
  received.flatMap(({ method, params }) => (method === '_parley/resolved' ? [params] : []))

/** Two turns, each with a permission request that the page answers. */
async function talked() {
  const street = openStreet()
  street.house.agent.script = asks
  const [editor, page] = [await street.client(), await street.client(wants('page'))]
  const sessionId = await create(editor)
  await page.request('session/load', opening(sessionId))
  for (const [index, words] of ['one', 'two'].entries()) {
    const ended = editor.request('session/prompt', prompt(sessionId, words))
    await quiet()
    const asked = page.received.filter(({ method }) => method === 'session/request_permission')[index]
    page.reply(asked?.id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
    await ended
  }
  await quiet()
  const loaded = await street.client(wants('phone'))
  await loaded.request('session/load', opening(sessionId))
  return { street, editor, page, loaded, sessionId }
}

describe('sequence numbers and turn ids', () => {
  test('are on every update to a client that asked for them, live and in a load, and on no other', async () => {
    const { editor, page, loaded } = await talked()
    const turns = (client: WireClient) =>
      new Set(placesIn(client).map((place) => `${String(place['parley/seq'])} ${String(place['parley/turn'])}`))
    expect(new Set(placesIn(editor).flatMap((place) => Object.keys(place)))).toEqual(new Set(['parley/seq']))
    for (const place of [...placesIn(page), ...placesIn(loaded)]) expect(place['parley/at']).toBeTypeOf('number')
    for (const turn of turns(loaded)) expect(turns(page)).toContain(turn)
    expect([...turns(page)].at(-1)).toMatch(/ t2$/u)
    const prompts = loaded.received.filter(
      ({ params }) => (params?.['update'] as Fields)?.['sessionUpdate'] === 'user_message_chunk',
    )
    expect(prompts.map(({ params }) => params?.['_meta'])).toMatchObject([
      { 'parley/turn': 't1', 'parley/by': 'unknown' },
      { 'parley/turn': 't2', 'parley/by': 'unknown' },
    ])
  })

  test('are right for a client that resumes in the middle of a turn', async () => {
    const { street, loaded, sessionId } = await talked()
    for (const place of placesIn(loaded)) {
      const late = await street.client(wants('late'))
      const after = { 'parley/after': Number(place['parley/seq']) - 1 }
      await late.request('session/resume', { ...opening(sessionId), _meta: after })
      await quiet()
      expect(placesIn(late)[0]).toMatchObject({ 'parley/turn': place['parley/turn'] })
    }
  })
})

describe('the outcome of a permission request', () => {
  test('is sent to every client that asked for it, once live and once in a load', async () => {
    const { editor, page, loaded, sessionId } = await talked()
    const outcome = { outcome: 'selected', optionId: 'allow_once', kind: 'allow_once' }
    const told = { sessionId, toolCallId: 'c1', outcome, by: 'page', requestId: expect.any(String) }
    expect(resolvedIn(page)).toMatchObject([told, told])
    expect(resolvedIn(loaded)).toEqual(resolvedIn(page))
    expect(resolvedIn(editor)).toEqual([])
  })

  test('has the id of the request', async () => {
    const { page } = await talked()
    const asked = page.received.flatMap(({ method, params }) =>
      method === 'session/request_permission' ? [params?.['_meta'] as Fields] : [],
    )
    expect(asked.map((meta) => meta['parley/turn'])).toEqual(['t1', 't2'])
    expect(asked.map((meta) => meta['parley/requestId'])).toEqual(resolvedIn(page).map((one) => one?.['requestId']))
  })
})
