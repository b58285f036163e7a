/** Lines for the shell on the real binary: whatever stands in one, the server judges it at once and goes on serving. */
import { expect, test } from 'vitest'
import type { Message } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith, serve } from './server.ts'

cleanUpServers()

const blanks = ['\u3000', '\u00A0', '\u2028', '\uFEFF', '\f', '\v', '\u1680']

test('a line with a blank that only Unicode knows leads to a question, and the server goes on', async () => {
  const calls = blanks.map((blank) => ({
    toolCall: { name: 'run_command', arguments: { command: `echo${blank}a` }, ask: true },
  }))
  const place = await placeWith(calls)
  await serve(place)
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  const sessionId = await openSession(client, place)
  const prompt = client.ask('session/prompt', promptOf(sessionId, 'go'))
  const answered = new Set<Message>()
  for (const blank of blanks) {
    const isNext = (message: Message) => message.method === 'session/request_permission' && !answered.has(message)
    const question = await client.until(isNext)
    answered.add(question)
    expect(question.params?.['toolCall']).toMatchObject({ rawInput: { command: `echo${blank}a` } })
    client.send({ id: question.id, result: { outcome: { outcome: 'selected', optionId: 'reject_once' } } })
  }
  expect(await client.answerTo(prompt)).toMatchObject({ result: { stopReason: 'end_turn' } })
})
