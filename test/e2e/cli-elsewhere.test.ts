/** Commands and editors with a remote server: another state directory here, reached over its port alone. */
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Credentials } from '../../src/credentials/key-ring.ts'
import type { Role } from '../../src/credentials/roles.ts'
import { freePort } from '../fixtures/process/free-port.ts'
import { jsonLines, parley } from './cli.ts'
import { type Fields, updatesIn } from './message.ts'
import { freshDirectory, initialize, promptOf } from './parley.ts'
import { cleanUp, startRelay } from './relays.ts'
import { type Remote, remote, remoteProcess } from './remote-place.ts'
import { type Place, cleanUpServers, logOf, requirePid, pidIn, start } from './server.ts'

cleanUpServers()
cleanUp()

const STEPS = [
  {
    toolCall: {
      toolCallId: 'c',
      title: 'Look',
      kind: 'read',
      status: 'completed',
      locations: [{ path: '/srv/app/x.ts' }],
    },
  },
  { chunk: 'Hello.' },
]

/** A server, and a machine without one of its own that has logged in there as `studio`. */
async function given(role: Role = 'admin', steps: readonly Fields[] = STEPS) {
  return loggedInTo(await remote([], { script: steps }), role)
}

async function loggedInTo<There extends Remote>({ place: there, port, ...more }: There, role: Role = 'admin') {
  const url = `http://127.0.0.1:${port}/`
  const here = freshDirectory()
  const { devices } = new Credentials(there.home, Date)
  const at = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => parley(args, { home: here, env })
  const { code } = devices.offer({ role, name: 'laptop' })
  expect(await at(['login', `${url}#pair=${code}`, '--name', 'studio'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('parley --server studio') as string,
  })
  const editor = (args: readonly string[] = []) =>
    startRelay({ home: here, cwd: here, agent: '' }, { args: ['--server', 'studio', ...args] })
  return { ...more, there, port, url, here, devices, at, editor }
}

test.concurrent('login uses up a link, and keeps what it got for the user alone', async () => {
  const { devices, here, url, at } = await given()
  expect(devices.all()).toMatchObject([{ name: 'laptop' }])
  const file = join(here, 'servers.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).toContain('parley_')
  expect(await at(['login', `${url}#pair=${'x'.repeat(26)}`])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('The server 127.0.0.1 refuses') as string,
  })
  expect(await at(['--server', 'nowhere', 'ls'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('parley login') as string,
  })
})

test.concurrent('commands work there: a session is made, prompted, listed, found, renamed and deleted; others say that they are local', async () => {
  const { there, here, url, at } = await given()
  const run = await at(['run', '--server', 'studio', '--cwd', there.cwd, 'Hi'])
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('Hello.') as string })
  const [session] = jsonLines((await at(['--server', 'studio', 'ls', '--json'])).stdout)
  const id = String(session?.['sessionId'])
  expect(session).toMatchObject({ cwd: there.cwd })
  expect((await at(['show', id, '--json', '--server', url])).stdout).toContain('Hello.')
  expect(await at(['rename', id, 'Greeting'], { PARLEY_SERVER: url })).toMatchObject({ code: 0 })
  expect((await at(['--server', url, 'search', 'Hello'])).stdout).toContain('Greeting')
  const name = id.slice(0, 8)
  for (const read of [['show'], ['export'], ['export', '--format', 'jsonl']]) {
    const elsewhere = await at([...read, name, '--server', 'studio'])
    expect(elsewhere).toEqual(await parley([...read, name], { home: there.home }))
    expect(elsewhere.stdout).toContain('Hello.')
  }
  expect(JSON.parse((await at(['status', '--server', 'studio', '--json'])).stdout)).toMatchObject({
    socket: there.socket,
  })
  expect(await at(['rm', '--yes', id], { PARLEY_SERVER: 'studio' })).toMatchObject({ code: 0 })
  expect((await at(['--server', 'studio', 'ls', '--json'])).stdout).toBe('')
  for (const args of [
    ['--server', 'studio', 'doctor'],
    ['rules', 'trust', '--server', 'studio'],
    ['docs', 'key', 'ls', '--server', 'studio'],
  ])
    expect(await at(args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/works only on this machine, and studio is a remote server\. [A-Z]/u) as string,
    })
  expect(await at(['run', '--server', 'studio', '--cwd', '/gone', 'Hi'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^parley: cwd \/gone is not .* with --cwd\. .*parley --server studio ls$/mu,
    ) as string,
  })
  for (const embedded of [['run', 'Hi'], ['acp']])
    expect(await at([...embedded, '--embedded', '--server', 'studio'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('leave out one of the two') as string,
    })
  expect(readdirSync(here).some((name) => name.startsWith('server.'))).toBe(false)
})

test.concurrent('an administrator says from elsewhere who else gets in', async () => {
  const { there, url, devices, at } = await given()
  const json = async (args: readonly string[]) =>
    jsonLines((await at(['--server', 'studio', ...args, '--json'])).stdout)
  const [invited] = await json(['pair', '--role', 'read', '--name', 'phone'])
  expect(invited).toMatchObject({ address: url, role: 'read', name: 'phone' })
  expect(devices.isOffered(String(invited?.['link']).replace(`${url}#pair=`, ''))).toBe(true)
  expect(await json(['devices'])).toMatchObject([{ name: 'laptop', role: 'admin' }])

  const [added] = await json(['token', 'add', 'ci', '--role', 'read', '--dir', there.cwd])
  expect(added).toMatchObject({
    name: 'ci',
    scope: { directories: [there.cwd] },
    token: expect.stringMatching(/^parley_/u),
  })
  expect(await json(['token', 'rm', 'ci'])).toMatchObject([{ name: 'ci' }])
  expect(await json(['token', 'ls'])).toEqual([])

  await at(['run', '--server', 'studio', '--cwd', there.cwd, 'Hi'])
  const [session] = await json(['ls'])
  const [shared] = await json(['share', String(session?.['sessionId']).slice(0, 8), '--for', '20s'])
  expect(shared).toMatchObject({ sessionId: session?.['sessionId'], link: expect.stringContaining(`${url}#share=`) })
  expect(await json(['share', 'rm', String(shared?.['id'])])).toMatchObject([{ id: shared?.['id'] }])
  expect(await json(['devices', 'rm', 'laptop'])).toMatchObject([{ name: 'laptop' }])
  expect(await at(['--server', 'studio', 'devices'])).toMatchObject({ code: 1, stdout: '' })
})

test.concurrent('an administrator sees from elsewhere which models, servers, rules, agents and log lines are there', async () => {
  const { there, at } = await given()
  const json = async (args: readonly string[]) =>
    jsonLines((await at([...args, '--server', 'studio', '--json'])).stdout)
  expect(await json(['models', '--provider', 'openai'])).toMatchObject([{ provider: 'openai' }])
  expect((await json(['agents'])).map(({ name }) => name)).toContain('claude')
  expect((await at(['logs', '--server', 'studio', '-n', '1'])).stdout).toContain('started')

  expect(await at(['mcp', 'add', 'files', '--server', 'studio', '--', 'no-such-program'])).toMatchObject({ code: 0 })
  const own = parley(['mcp', 'ls', '--json'], { home: there.home })
  expect(await json(['mcp', 'ls'])).toEqual(jsonLines((await own).stdout))
  expect(await json(['mcp', 'test', 'files'])).toMatchObject([{ servers: [{ state: 'failed' }] }])
  expect(await at(['mcp', 'add', 'more', '--server', 'studio', '--', './more'])).toMatchObject({ code: 2 })
  expect(await at(['mcp', 'rm', 'files', '--server', 'studio'])).toMatchObject({ code: 0 })
  expect(await json(['mcp'])).toEqual([])

  // The `--server` of a rule is the MCP server that it is about.
  const denied = ['rules', 'add', 'deny', '--server', 'files', '--cwd', there.cwd]
  expect(await at(['--server', 'studio', ...denied])).toMatchObject({ code: 0 })
  const [rule] = await json(['rules', '--cwd', there.cwd])
  expect(rule).toMatchObject({ effect: 'deny', subject: { server: 'files' } })
  expect(jsonLines((await parley(['rules', '--json', '--cwd', there.cwd], { home: there.home })).stdout)).toEqual([
    rule,
  ])
  const removal = ['rules', 'rm', String(rule?.['id']), '--cwd', there.cwd, '--server', 'studio']
  expect(await at(removal)).toMatchObject({ code: 0 })
  expect(await at(removal)).toMatchObject({ code: 1, stdout: '' })
})

test.concurrent('an exported session is imported there in parts, and a wrong one is called by its own name', async () => {
  const { there, here, at } = await given('admin', [{ chunk: 'ü'.repeat(64 * 1024), times: 40 }])
  await at(['run', '--server', 'studio', '--cwd', there.cwd, 'Hi'])
  const [session] = jsonLines((await at(['ls', '--json', '--server', 'studio'])).stdout)
  const id = String(session?.['sessionId'])
  const file = join(here, 'session.jsonl')
  await at(['export', id, '--format', 'jsonl', '-o', file, '--server', 'studio'])
  expect(statSync(file).size).toBeGreaterThan(4 * 1024 * 1024)
  expect((await at(['import', file, '--keep-id', '--server', 'studio'])).stderr).toContain('exists already')
  await at(['rm', '--yes', id, '--server', 'studio'])
  expect(await at(['import', file, '--keep-id', '--server', 'studio'])).toMatchObject({ code: 0, stdout: `${id}\n` })
  expect((await at(['export', id, '--format', 'jsonl', '--server', 'studio'])).stdout).toBe(readFileSync(file, 'utf8'))

  const wrong = join(here, 'wrong.jsonl')
  writeFileSync(wrong, '{')
  expect(await at(['import', wrong, '--server', 'studio'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Line 1 of wrong.jsonl') as string,
  })
  expect(readdirSync(join(there.home, 'uploads'))).toEqual([])
})

describe.concurrent('an editor', () => {
  const maps = (there: Place) => [
    '--map',
    `/Users/ada=${there.cwd}/..`,
    '--map',
    `/Users/ada/app=${there.cwd}`,
    '--map',
    '/Volumes/srv=/srv',
  ]

  test.concurrent('sees its own paths, is told where the server is, and keeps its files and commands', async () => {
    const { there, at, editor } = await given()
    const client = editor(maps(there))
    const { result } = await client.request('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    })
    expect(result?.['agentInfo']).toMatchObject({ title: 'Parley · studio' })
    const stdio = { name: 'mine', command: '/usr/bin/false', args: [], env: [] }
    const opened = await client.request('session/new', { cwd: '/Users/ada/app', mcpServers: [stdio] })
    const sessionId = String(opened.result?.['sessionId'])
    expect(client.stderr).toMatch(
      /MCP server of the editor is left out: commands of this machine cannot be started on studio/u,
    )
    expect((await client.request('session/prompt', promptOf(sessionId, 'Hi'))).result).toEqual({
      stopReason: 'end_turn',
    })
    expect(JSON.stringify(updatesIn(client.received))).toContain('/Volumes/srv/app/x.ts')
    expect((await client.request('session/list', {})).result).toMatchObject({ sessions: [{ cwd: '/Users/ada/app' }] })
    expect((await at(['--server', 'studio', 'ls', '--json'])).stdout).toContain(there.cwd)
    await client.leave()
  })

  test.concurrent('outlives the server: after kill -9 its prompt is answered once, and the session goes on', async () => {
    const place = await remoteProcess([], [{ chunk: 'w{n} ', times: 100_000, everyMs: 5 }], await freePort())
    const { there, cli, port, editor } = await loggedInTo(place)
    const client = editor()
    await initialize(client)
    const { result } = await client.request('session/new', { cwd: there.cwd, mcpServers: [] })
    const sessionId = String(result?.['sessionId'])
    const asked = client.ask('session/prompt', promptOf(sessionId, 'Go'))
    await client.until((message) => updatesIn([message]).length > 0)
    process.kill(requirePid(pidIn(there.home)), 'SIGKILL')
    await cli.finished
    await start(there, ['serve', '--listen', `${port}`]).until('/acp')
    expect((await client.answerTo(asked)).error?.data).toMatchObject({ code: 'TURN_INTERRUPTED' })
    expect((await client.request('session/list', {})).result).toMatchObject({ sessions: [{ sessionId }] })
    expect(logOf(there)).not.toContain('uncaught')
    await client.leave()
  })

  test.concurrent('whose server takes it no more is told so', async () => {
    const { devices, editor } = await given()
    devices.remove('laptop')
    const client = editor()
    const { error } = await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    expect(error).toMatchObject({ data: { code: 'SERVER_REFUSED' } })
    await client.leave()
  })
})
