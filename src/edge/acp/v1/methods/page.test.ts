/** `_parley/page` on the wire: pages are what a load sends, and with a resume there is no seam. */
import { expect, test } from 'vitest'
import type { Fields } from '../../../../../test/e2e/message.ts'
import { quiet } from '../../../../../test/sim/clock.ts'
import { type Script, signal } from '../../../../../test/sim/puppet.ts'
import { cleanUp, create, openStreet, opening, prompt } from '../../../../../test/sim/street.ts'
import { options, text } from '../../../../../test/sim/words.ts'
import type { WireClient } from '../../../../../test/sim/wire-client.ts'

cleanUp()

interface WirePage {
  readonly updates: readonly Fields[]
  readonly resolved: readonly Fields[]
  readonly from: number
  readonly more: boolean
}

async function pagesBefore(client: WireClient, sessionId: string, before?: number): Promise<readonly WirePage[]> {
  const { result } = await client.request('_parley/page', { sessionId, before, limit: 3 })
  const page = result as unknown as WirePage
  return page.more ? [...(await pagesBefore(client, sessionId, page.from)), page] : [page]
}

const shown = ({ update, _meta }: Fields): unknown => [update, (_meta as Fields)['parley/seq']]

const talks: Script = async (turn) => {
  for (const words of ['One ', 'two ', 'three.']) await turn.say(text(words))
  await turn.report('c1', { title: 'Look', status: 'in_progress' })
  await turn.say(text('More.'))
  await turn.report('c1', { status: 'completed' })
  return 'end_turn'
}

test('pages need no attachment, and together have what a load sends', async () => {
  const street = openStreet()
  street.house.agent.script = talks
  const one = await street.client()
  const sessionId = await create(one)
  for (const words of ['first', 'second', 'third']) await one.request('session/prompt', prompt(sessionId, words))
  const other = await street.client()
  const pages = await pagesBefore(other, sessionId)
  await other.request('session/load', opening(sessionId))
  expect(pages.length).toBeGreaterThan(3)
  expect(pages.flatMap(({ updates }) => updates.map(shown))).toEqual(other.all('session/update').map(shown))
  const turns = pages.flatMap(({ updates }) => updates.map(({ _meta }) => (_meta as Fields)['parley/turn']))
  expect([...new Set(turns)]).toEqual(['t1', 't2', 't3'])
})

test('a client that resumes in mid-message and pages what came before has every entry once', async () => {
  const street = openStreet()
  const goOn = signal()
  street.house.agent.script = async (turn) => {
    await turn.say(text('Half a '))
    await goOn.given
    await turn.say(text('word.'))
    return 'end_turn'
  }
  const one = await street.client()
  const sessionId = await create(one)
  const ended = one.request('session/prompt', prompt(sessionId, 'Speak'))
  await quiet()
  const late = await street.client()
  const { result } = await late.request('session/resume', opening(sessionId))
  const seq = Number((result?.['_meta'] as Fields | undefined)?.['parley/seq'])
  const live = late.all('session/update').length
  goOn.give()
  await ended
  await quiet()
  const before = (await pagesBefore(late, sessionId, seq + 1)).flatMap(({ updates }) => updates)
  const all = [...before, ...late.all('session/update').slice(live)]
  const seqs = all.map(({ _meta }) => (_meta as Fields)['parley/seq'])
  expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => Number(a) - Number(b)))
  const words = all.flatMap(({ update }) => (update as Fields)['content'] ?? [])
  expect(words.map((content) => (content as Fields)['text']).join('')).toBe('SpeakHalf a word.')
})

test('a page says how permission requests ended', async () => {
  const street = openStreet()
  street.house.agent.script = async (turn) => {
    await turn.ask({ toolCallId: 'c1', patch: { title: 'Delete' }, options, state: null })
    return 'end_turn'
  }
  const one = await street.client({ clientInfo: { name: 'phone', version: '1' } })
  const sessionId = await create(one)
  const ended = one.request('session/prompt', prompt(sessionId, 'Delete it'))
  await quiet()
  const asked = one.received.findLast(({ method }) => method === 'session/request_permission')
  one.reply(asked?.id ?? null, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
  await ended
  const [page] = await pagesBefore(await street.client(), sessionId)
  expect(page?.resolved).toMatchObject([
    {
      toolCallId: 'c1',
      outcome: { outcome: 'selected', optionId: 'allow_once', kind: 'allow_once' },
      by: 'phone',
    },
  ])
})

test.each([
  [{ limit: 501 }, 'PARAMS_INVALID'],
  [{ limit: 0 }, 'PARAMS_INVALID'],
  [{ before: 0 }, 'PARAMS_INVALID'],
  [{ sessionId: 's-9' }, 'SESSION_NOT_FOUND'],
])('%j is refused as %s', async (params, code) => {
  const client = await openStreet().client()
  const sessionId = await create(client)
  const { error } = await client.request('_parley/page', { sessionId, ...params })
  expect(error?.data).toMatchObject({ code })
})
