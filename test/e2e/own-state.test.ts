/** Parley's own state, on the real binary with a session above it: no list and no search tells of it unasked. */
import { expect, test } from 'vitest'
import { serveHere } from './hosted-server.ts'
import type { Fields, Message } from './message.ts'
import { dirname } from 'node:path'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith } from './server.ts'

cleanUpServers()

const call = (name: string, args: Fields): Fields => ({ toolCall: { name, arguments: args, ask: true } })

test('lists and searches of a directory above leave it out, and a call that names it is asked about', async () => {
  const place = await placeWith([
    call('find_files', { pattern: '**', ignored: true }),
    call('list_directory', { depth: 8, ignored: true }),
    call('search_text', { pattern: 'SQLite', ignored: true }),
    call('find_files', { pattern: '**', path: 'home' }),
    call('list_directory', { path: 'home' }),
  ])
  await serveHere(place)
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  const sessionId = await openSession(client, { ...place, cwd: dirname(place.cwd) })
  const id = client.ask('session/prompt', promptOf(sessionId, 'go'))
  const questions: Message[] = []
  for (;;) {
    const isNew = (message: Message) => message.method === 'session/request_permission' && !questions.includes(message)
    const next = await client.until((message) => isNew(message) || message.id === id)
    if (next.id === id) break
    questions.push(next)
    client.send({ id: next.id, result: { outcome: { outcome: 'selected', optionId: 'reject_once' } } })
  }
  expect(questions).toHaveLength(2)
  expect(JSON.stringify(questions)).toContain(place.home)
  const said = JSON.stringify(client.received.filter((message) => !questions.includes(message)))
  expect(said).toContain('[Left out, because they are files of Parley itself: 1.')
  for (const name of ['server.lock', 'journal.db', 'search.db']) expect(said).not.toContain(name)
})
