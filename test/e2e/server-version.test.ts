/** A newer Parley and an older server: it takes over what is idle by itself, and leaves what works alone. */
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runs } from '../fixtures/process/running.ts'
import { Cli, type Finished } from './cli.ts'
import { binary } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, openSession, pidIn, placeWith, start, startInBackground } from './server.ts'

cleanUpServers()

const SLOW = [{ chunk: 'w{n} ', times: 10_000, everyMs: 5 }]

/** Our own build, but for the version that it tells. */
function newerParley({ cwd }: Place): string {
  const root = dirname(dirname(binary))
  const copy = join(dirname(cwd), 'newer')
  mkdirSync(copy)
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(root, part), join(copy, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  for (const file of readdirSync(join(copy, 'dist'), { recursive: true, encoding: 'utf8' })) {
    if (/\.[cm]js$/u.test(file)) raise(join(copy, 'dist', file))
  }
  return join(copy, 'bin', 'parley.mjs')
}

function raise(path: string): void {
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(`"${version}"`, '"99.0.0"'))
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
