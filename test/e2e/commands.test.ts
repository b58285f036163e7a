/** Lines for the shell on the real binary: whatever stands in one, the server judges it at once and goes on serving. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { serveHere } from './hosted-server.ts'
import type { Fields, Message } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, openSession, placeWith } from './server.ts'

cleanUpServers()

const blanks = ['\u3000', '\u00A0', '\u2028', '\uFEFF', '\f', '\v', '\u1680']

test.concurrent('a line with a blank that only Unicode knows leads to a question, and the server goes on', async () => {
  const calls = blanks.map((blank) => ({
    toolCall: { name: 'run_command', arguments: { command: `echo${blank}a` }, ask: true },
  }))
  const place = await placeWith(calls)
  await serveHere(place)
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

const modes = { currentModeId: 'ask', availableModes: ['ask', 'allow-all'].map((id) => ({ id, name: id })) }
const runs = (command: string): Fields => ({
  toolCall: { name: 'run_command', arguments: { command }, ask: true },
})

/** Rules of the user's own file. */
function allow(place: Place, rules: string): void {
  const own = join(place.home, 'config', 'parley', 'parley.toml')
  mkdirSync(dirname(own), { recursive: true })
  writeFileSync(own, `[permissions]\nallow = [${rules}]\n`)
}

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

test.concurrent('an allow rule covers no option that writes or runs something else, and no spelling of the state directory', async () => {
  const fine = ['git diff --stat', 'cat a.txt']
  const writes = ['git diff --output=a.txt', 'git diff --outpu=a.txt', 'git diff --ext-diff', 'git diff HEAD > a.txt']
  const place = await placeWith([{ agent: { modes } }])
  symlinkSync(place.home, join(place.cwd, 'link'))
  writeFileSync(join(place.cwd, 'a.txt'), 'kept')
  const key = join(place.home, 'docs.key')
  const spelled = [
    key,
    `"${key}"`,
    `${place.home.slice(0, -1)}\\${place.home.slice(-1)}/docs.key`,
    `${dirname(place.home)}/*/docs.key`,
    `${place.home}/d?cs.key`,
    'link/docs.key',
    'link/../link/docs.key',
    `./link/docs.ke[y]`,
    `/proc/self/root${key}`,
  ].map((path) => `cat ${path}`)
  const steps = [{ agent: { modes } }, ...[...fine, ...writes, ...spelled].map(runs)]
  const [, script = ''] = place.agent.split('script:')
  writeFileSync(script, steps.map((step) => JSON.stringify(step)).join('\n'))
  allow(place, '{ command = "git diff *" }, { command = "cat *" }')
  expect(await askedAbout({ place, mode: 'ask' })).toEqual([...writes, ...spelled])
  expect(readFileSync(join(place.cwd, 'a.txt'), 'utf8')).toBe('kept')
})

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
