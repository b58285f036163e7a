/** Rules, modes and answers on the real binary: what is asked, what is not, and what a restart and a revocation leave of it. */
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jsonLines, parley } from './cli.ts'
import { serveHere } from './hosted-server.ts'
import type { Fields, Message } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, deaf, openSession, placeWith, serve } from './server.ts'

cleanUpServers()

const program = new URL('../fixtures/mcp/stdio-server.mjs', import.meta.url).pathname
const files = {
  name: 'files',
  command: process.execPath,
  args: [program, '{}'],
  env: [{ name: 'KEY', value: 'sentinel-env' }],
}
const call = { toolCall: { name: 'files__think', arguments: { ms: 0, note: 'sentinel-argument' }, ask: true } }

async function begin(steps: readonly Fields[] = [call]) {
  const place = await placeWith(steps)
  await serveHere(place)
  return { place, client: await connected(place) }
}

function connected(place: Place): Promise<RawSocket> {
  return RawSocket.open(place.socket, { agent: place.agent })
}

/** What a prompt leads to: a question, or its end with the calls that ran. */
async function outcome(client: RawSocket, sessionId: string, option?: string): Promise<string> {
  const from = client.received.length
  const id = client.ask('session/prompt', promptOf(sessionId, 'go'))
  const isQuestion = ({ method, params }: Message) =>
    method === 'session/request_permission' && params?.['sessionId'] === sessionId
  const isNew = (message: Message) => client.received.indexOf(message) >= from
  const next = await client.until((message) => isNew(message) && (isQuestion(message) || message.id === id))
  if (!isQuestion(next)) return `${statusOf(client, from)} unasked`
  client.send({ id: next.id, result: { outcome: { outcome: 'selected', optionId: option ?? 'reject_once' } } })
  await client.answerTo(id)
  return `${statusOf(client, from)} when asked`
}

function statusOf(client: RawSocket, from: number): string {
  const updates = client.received.slice(from).map(({ params }) => params?.['update'] as Fields | undefined)
  const last = updates.findLast((update) => String(update?.['sessionUpdate']).startsWith('tool_call'))
  return String(last?.['status'])
}

const asked = 'failed when asked'
const ran = 'completed unasked'
const refused = 'failed unasked'

test.concurrent('always in this project is a rule for all sessions of this directory, after kill -9 too, until it is taken away', async () => {
  const place = await placeWith([call])
  const server = await serve(place)
  const client = await connected(place)
  const first = await openSession(client, place, [files])
  expect(await outcome(client, first, 'allow_always_project')).toBe('completed when asked')
  expect(await outcome(client, first)).toBe(ran)
  expect(await outcome(client, await openSession(client, place, [files]))).toBe(ran)
  const elsewhere = join(place.cwd, 'sub')
  mkdirSync(elsewhere)
  expect(await outcome(client, await openSession(client, { ...place, cwd: elsewhere }, [files]))).toBe(asked)

  server.child.kill('SIGKILL')
  await deaf(place.socket)
  await serveHere(place)
  const next = await connected(place)
  const later = await openSession(next, place, [files])
  expect(await outcome(next, later)).toBe(ran)

  const directory = join(place.home, 'rules')
  const stored = readdirSync(directory).map((name) => join(directory, name))
  expect(stored.map((path) => statSync(path).mode & 0o777)).toEqual([0o600])
  expect(stored.map((path) => readFileSync(path, 'utf8')).join('')).not.toContain('sentinel')
  expect(readdirSync(place.cwd)).toEqual(['sub'])

  const listed = await parley(['rules', '--json', '--cwd', place.cwd], place)
  const [rule] = jsonLines(listed.stdout)
  expect(rule).toMatchObject({ effect: 'allow', subject: { tool: 'files__think' }, from: 'stored', project: place.cwd })
  expect((await parley(['rules', 'rm', String(rule?.['id']), '--cwd', place.cwd], place)).code).toBe(0)
  expect(await outcome(next, later)).toBe(asked)
})

test.concurrent('always in this session is listed and taken back, and the next call is asked about', async () => {
  const { place, client } = await begin()
  const session = await openSession(client, place, [files])
  expect(await outcome(client, session, 'allow_always')).toBe('completed when asked')
  expect(await outcome(client, session)).toBe(ran)
  expect(await outcome(client, await openSession(client, place, [files]))).toBe(asked)
  const listed = await parley(['rules', 'ls', '--json', '--session', session.slice(0, 12)], place)
  const [rule] = jsonLines(listed.stdout)
  expect(rule).toMatchObject({
    effect: 'allow',
    from: 'session',
    sessionId: session,
    subject: { tool: 'files__think' },
  })
  expect(await parley(['rules', 'rm', String(rule?.['id']), '--session', session], place)).toMatchObject({ code: 0 })
  expect(await outcome(client, session)).toBe(asked)
})

test.concurrent('what a project denies holds at once; what it allows holds when the user has agreed to just that', async () => {
  const { place, client } = await begin()
  const session = await openSession(client, place, [files])
  const theirs = join(place.cwd, '.parley.toml')
  const run = { ...place, cwd: place.cwd }
  writeFileSync(theirs, '[permissions]\nallow = [{ tool = "files__think" }]\n')
  expect(await outcome(client, session)).toBe(asked)
  expect((await parley(['rules'], run)).stdout).toContain('not trusted yet')
  expect((await parley(['rules', 'trust'], run)).stdout).toContain('allow tool files__think')
  expect(await outcome(client, session)).toBe(ran)
  writeFileSync(theirs, '[permissions]\nallow = [{ tool = "*" }]\n')
  expect(await outcome(client, session)).toBe(asked)
  writeFileSync(theirs, '[permissions]\ndeny = [{ tool = "*" }]\n')
  expect(await outcome(client, session)).toBe(refused)
})

test.concurrent('rules are added by command, and what cannot be a rule is refused', async () => {
  const { place, client } = await begin()
  const session = await openSession(client, place, [files])
  expect(await parley(['rules', 'add', 'allow', '--tool', 'files__*', '--cwd', place.cwd], place)).toMatchObject({
    code: 0,
  })
  expect(await outcome(client, session)).toBe(ran)
  expect(await parley(['rules', 'add', 'deny', '--server', 'files', '--global'], place)).toMatchObject({ code: 0 })
  expect(await outcome(client, session)).toBe(refused)
  for (const words of [
    ['allow'],
    ['maybe', '--tool', 'x'],
    ['allow', '--path', '../x'],
    ['allow', '--host', 'https://x/'],
  ])
    expect((await parley(['rules', 'add', ...words], place)).code).toBe(2)
})
