/** A newer Parley and an older server: it takes over what is idle by itself, and leaves what works alone. */
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runs } from '../fixtures/process/running.ts'
import { Cli, type Finished } from './cli.ts'
import { type Message, textOf, updatesIn } from './message.ts'
import { binary, initialize, newSession, promptOf } from './parley.ts'
import type { RawClient } from './raw-client.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUp, startRelay } from './relays.ts'
import { type Place, cleanUpServers, openSession, pidIn, placeWith, start, startInBackground } from './server.ts'

cleanUp()
cleanUpServers()

const SLOW = [{ chunk: 'w{n} ', times: 10_000, everyMs: 5 }]

/** Our own build, but for the version that it tells, and the names of its chunks, which have hashes of their content. */
function newerParley(place: Place): string {
  const program = installed(place, 'newer')
  const dist = join(dirname(dirname(program)), 'dist')
  for (const chunk of readdirSync(join(dist, 'chunks')))
    renameSync(join(dist, 'chunks', chunk), join(dist, 'chunks', `newer-${chunk}`))
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (/\.[cm]js$/u.test(file)) raise(join(dist, file))
  }
  return program
}

/** A copy of our own build; the path of its program. */
function installed({ cwd }: Place, name: string): string {
  const root = dirname(dirname(binary))
  const copy = join(dirname(cwd), name)
  mkdirSync(copy)
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(root, part), join(copy, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return join(copy, 'bin', 'parley.mjs')
}

/** As `npm i -g` does: the new package takes the place of the old one, of which nothing stays. */
function replaceBy(newer: string, program: string): void {
  const [from, to] = [newer, program].map((path) => dirname(dirname(path))) as [string, string]
  rmSync(to, { recursive: true })
  renameSync(from, to)
}

function raise(path: string): void {
  // The minifier chooses the quotes.
  const text = ['"', "'", '`'].reduce(
    (before, quote) => before.replaceAll(`${quote}${version}${quote}`, `${quote}99.0.0${quote}`),
    readFileSync(path, 'utf8'),
  )
  writeFileSync(
    path,
    text.replaceAll(
      /(["'`](?:\.\/|\.\/chunks\/|chunks\/|\.\.\/chunks\/))([\w.-]+-[\w-]{8}\.[cm]js["'`])/gu,
      '$1newer-$2',
    ),
  )
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

function run(place: Place, program: string, args: readonly string[]): Promise<Finished> {
  const cli = new Cli(args, { home: place.home, cwd: place.cwd, agent: place.agent, program })
  cli.child.stdin.end()
  return cli.finished
}

async function statusOf(place: Place): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse((await start(place, ['status', '--json']).finished).stdout) as Readonly<Record<string, unknown>>
}

test('an older server that is idle is replaced by the first command of a newer Parley', async () => {
  const place = await placeWith([{ chunk: 'hello' }])
  const older = await startInBackground(place)
  const { code, stdout } = await run(place, newerParley(place), ['run', 'go'])
  expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: 'hello' })
  expect(runs(older)).toBe(false)
  expect(await statusOf(place)).toMatchObject({ pid: pidIn(place.home), version: '99.0.0' })
})

test('one that works goes on, serves the newer one too, and that is said', async () => {
  const place = await placeWith([{ chunk: 'hello' }])
  const slow = await placeWith(SLOW)
  const older = await startInBackground(place)
  const client = await RawSocket.open(place.socket, { agent: slow.agent })
  const sessionId = await openSession(client, place)
  client.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] })
  await client.until(({ method }) => method === 'session/update')
  const { code, stdout, stderr } = await run(place, newerParley(place), ['run', 'go'])
  expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: 'hello' })
  expect(stderr).toMatch(/older Parley/u)
  expect(await statusOf(place)).toMatchObject({ pid: older, version, working: 1 })
})

test('an older Parley uses a newer server as it is', async () => {
  const place = await placeWith([{ chunk: 'hello' }])
  const program = newerParley(place)
  await run(place, program, ['run', 'go'])
  const newer = pidIn(place.home)
  const { code } = await run(place, binary, ['run', 'go'])
  expect(code).toBe(0)
  expect(await statusOf(place)).toMatchObject({ pid: newer, version: '99.0.0' })
})

test('a package that is replaced under a running turn: the turn ends whole, and the newer server answers the next prompt', async () => {
  const place = await placeWith([{ chunk: 'before ' }, { permission: {} }, { chunk: 'after' }])
  const quick = await placeWith([{ chunk: 'hello' }])
  const program = installed(place, 'global')
  const newer = newerParley(place)
  const editor = startRelay(place, { bin: program })
  await initialize(editor)
  const session = await newSession(editor, place.cwd)
  const first = await askedIn(editor, session)
  const older = pidIn(place.home)
  replaceBy(newer, program)
  expect(await first.allow()).toMatchObject({ stopReason: 'end_turn' })
  expect(updatesIn(editor.received).map(textOf).join('')).toBe('before after')
  expect(await run({ ...place, agent: quick.agent }, program, ['run', 'go'])).toMatchObject({ code: 0, stderr: '' })
  expect(runs(older ?? 0)).toBe(false)
  const next = await askedIn(editor, session)
  expect(await next.allow()).toMatchObject({ stopReason: 'end_turn' })
  expect(await statusOf(place)).toMatchObject({ pid: pidIn(place.home), version: '99.0.0' })
})

/** A prompt whose turn waits for a permission. */
async function askedIn(editor: RawClient, session: string) {
  const from = editor.received.length
  const answer = editor.request('session/prompt', promptOf(session, 'go'))
  const { id } = await editor.until((message) => isQuestion(message) && editor.received.indexOf(message) >= from)
  return {
    async allow() {
      editor.reply(id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
      return (await answer).result
    },
  }
}

function isQuestion({ method }: Message): boolean {
  return method === 'session/request_permission'
}
