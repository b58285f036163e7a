/** The client's calls on sessions that it need not have open, against a server. */
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { type Notice, connect, openLineTransport } from '../../src/client.ts'
import { localUser } from '../../src/edge/method-access.ts'
import { serveConnection } from '../../src/edge/acp/connection.ts'
import { openStreamTransport } from '../../src/edge/transport/streams.ts'
import { quiet } from '../sim/clock.ts'
import { House } from '../sim/house.ts'
import { options } from '../sim/words.ts'

test('a page finds the question in the list, answers it, reads what came before and marks it as seen', async () => {
  const { clock, sessions, agents, agent } = new House()
  agent.script = async (turn) => {
    await turn.ask({ toolCallId: 'c1', patch: { title: 'Delete it' }, options, state: null })
    return 'end_turn'
  }
  const [input, output] = [new PassThrough(), new PassThrough()]
  const served = serveConnection(openStreamTransport(input, output), {
    sessions: Promise.resolve(sessions),
    principal: localUser('stdio'),
    info: { name: 'parley', title: 'Parley', version: '0' },
    agents,
    clock,
    report: () => undefined,
    untilReplyTimeout: async () => undefined,
  })
  const notices: Notice[] = []
  const client = await connect(
    { dial: async () => openLineTransport(output, input), pause: async () => undefined, newId: () => 'p-1' },
    { updated: () => undefined, ask: () => new Promise(() => undefined), noticed: (notice) => notices.push(notice) },
    { info: { name: 'page', title: 'Page', version: '1' }, notices: ['sessions', 'alive'] },
  )
  const sessionId = await client.newSession('/')
  const ended = client.prompt(sessionId, 'Delete')
  await quiet()
  await client.ping()
  const rowOf = () => notices.flatMap((one) => (one.kind === 'sessions' ? one.sessions : [])).at(-1)
  const waiting = rowOf()?.waiting
  expect(waiting).toMatchObject({ title: 'Delete it', count: 1, options })
  const answer = await client.answer(sessionId, waiting?.requestId ?? '', 'allow_once')
  expect(answer).toMatchObject({ counted: true, by: 'page', outcome: { optionId: 'allow_once' } })
  await ended
  expect(await client.answer(sessionId, waiting?.requestId ?? '', 'allow_once')).toEqual(answer)
  const page = await client.page(sessionId, { limit: 10 })
  expect(page).toMatchObject({ more: false, resolved: [{ requestId: waiting?.requestId, by: 'page' }] })
  expect(page.updates.map(({ update }) => update.sessionUpdate)).toContain('user_message_chunk')
  expect(await client.outline(sessionId)).toMatchObject([{ turn: 't1', text: 'Delete', by: 'page' }])
  expect(await client.withdraw(sessionId, 'none')).toBe(false)
  expect(await client.promote(sessionId, 'none')).toBe(false)
  await client.seen(sessionId, rowOf()?.lastSeq ?? 0)
  await clock.advance(20_000)
  await client.ping()
  expect(notices.some(({ kind }) => kind === 'alive')).toBe(true)
  client.close()
  input.end()
  await served
})
