/** Lines for the shell on the real binary: whatever stands in one, the server judges it at once and goes on serving. */
import { expect, test } from 'vitest'
import { serveHere } from './hosted-server.ts'
import type { Fields, Message } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, openSession, placeWith } from './server.ts'

cleanUpServers()

const modes = { currentModeId: 'ask', availableModes: ['ask', 'allow-all'].map((id) => ({ id, name: id })) }
const runs = (command: string): Fields => ({
  toolCall: { name: 'run_command', arguments: { command }, ask: true },
})

interface Trial {
  readonly place: Place
  readonly mode: string
}

/** Which of the commands of the script are asked about. Every question is answered with no, so that none of these runs. */
async function askedAbout({ place, mode }: Trial): Promise<readonly string[]> {
  // Whatever was not asked about would find no program to run.
  await serveHere({ ...place, env: { PATH: '/nowhere' } })
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  const sessionId = await openSession(client, place)
  await client.request('session/set_mode', { sessionId, modeId: mode })
  const id = client.ask('session/prompt', promptOf(sessionId, 'go'))
  const asked: Message[] = []
  for (;;) {
    const isQuestion = (message: Message) => message.method === 'session/request_permission' && !asked.includes(message)
    const next = await client.until((message) => isQuestion(message) || message.id === id)
    if (next.id === id) break
    asked.push(next)
    client.send({ id: next.id, result: { outcome: { outcome: 'selected', optionId: 'reject_once' } } })
  }
  return asked.map(({ params }) => {
    const call = params?.['toolCall'] as { readonly rawInput: Fields } | undefined
    return String(call?.rawInput['command'])
  })
}

test.concurrent('allow all asks about what is recognised as destructive, in every shape that the fixtures know, and about nothing that reads', async () => {
  const destructive = [
    `tar --checkpoint=1 --checkpoint-action=exec='rm a' -xf x.tar`,
    `tar -I 'rm a' -xf x.tar`,
    'chrt 1 rm a',
    '/nowhere/ld-linux-x86-64.so.2 /bin/rm a',
    'systemd-run rm a',
    `git -c core.pager='rm a' log`,
    'git grep -Orm x',
    `GIT_SSH_COMMAND='rm a' git fetch`,
    'BASH_ENV=x bash -c true',
    'alias x=rm; x a',
    `less '+!rm a' b`,
    'sort -o a a',
    'curl -o a http://127.0.0.1:1/',
    'tar cf a.tar src',
    'ln -sf b a',
    'echo x 1<>a',
    'gcc -o a a.c',
    `python3 -c "open('a','w')"`,
    'if then',
  ]
  const place = await placeWith([{ agent: { modes } }, ...['ls', 'pwd'].map(runs), ...destructive.map(runs)])
  expect(await askedAbout({ place, mode: 'allow-all' })).toEqual(destructive)
})
