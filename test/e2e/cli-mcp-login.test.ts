/** `parley mcp login` and `logout`: a session that waits for a server goes on as soon as somebody has logged in. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { type Guarded, startGuarded } from '../fixtures/mcp/authorization-server.ts'
import { freePort } from '../fixtures/process/free-port.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { Cli, jsonLines, parley } from './cli.ts'
import { RawSocket } from './raw-socket.ts'
import type { Fields } from './message.ts'
import { promptOf } from './parley.ts'
import { type Place, cleanUpServers, logOf, openSession, placeWith, serve } from './server.ts'

cleanUpServers()

const guards = new PerTest<Guarded>(async (all) => {
  await Promise.all(all.map((guard) => guard.close()))
})
guards.closeAfterEach()

async function guarded(
  steps: readonly object[] = [{ sleepMs: 1 }],
): Promise<{ readonly place: Place; readonly guard: Guarded }> {
  const guard = await startGuarded()
  guards.add(guard)
  const place = await placeWith(steps as readonly Fields[])
  const directory = join(place.home, 'config/parley')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'parley.toml'), `[mcp.wiki]\nurl = "${guard.url}"\n`)
  return { place, guard }
}

async function stateOf(place: Place): Promise<unknown> {
  const { stdout } = await parley(['mcp', 'ls', '--json'], place)
  const [row] = jsonLines(stdout) as readonly { readonly sessions: readonly unknown[] }[]
  return row?.sessions[0]
}

test.concurrent('a live session says which command to run, and is connected when it was', async () => {
  const { place, guard } = await guarded()
  await serve(place)
  const client = await RawSocket.open(place.socket, { agent: place.agent })
  await openSession(client, place, [])
  await vi.waitFor(async () => {
    expect(await stateOf(place)).toMatchObject({
      state: 'failed',
      reason: 'MCP server wiki requires a login. Run: parley mcp login wiki',
    })
  }, 30_000)
  const login = new Cli(['mcp', 'login', 'wiki', '--json'], place)
  await login.until('\n')
  const [{ url }] = jsonLines(login.stdout) as readonly [{ readonly url: string }]
  await (await fetch(url)).text()
  expect(await login.finished).toMatchObject({ code: 0, stderr: '' })
  expect(jsonLines(login.stdout).at(-1)).toEqual({ loggedIn: true })
  await vi.waitFor(async () => expect(await stateOf(place)).toMatchObject({ state: 'ready', tools: 2 }), 30_000)
  expect(guard.shown.size).toBe(1)
  expect(logOf(place) + login.stdout).not.toContain('sentinel')
  expect(await parley(['mcp', 'logout', 'wiki'], place)).toMatchObject({ code: 0, stdout: 'Logged out of wiki.\n' })
  expect((await parley(['mcp', 'logout', guard.url], place)).stdout).toContain('Not logged in')
})

const LOGGING_IN = [{ toolCall: { name: 'wiki__log_in' } }, { toolCall: { name: 'wiki__say' } }, { end: 'end_turn' }]

test.concurrent('a client that can open pages is sent to the one where people log in, and then the tools are there', async () => {
  const { place, guard } = await guarded(LOGGING_IN)
  await serve(place)
  const client = await RawSocket.open(place.socket, { agent: place.agent, capabilities: { elicitation: { url: {} } } })
  const id = await openSession(client, place, [])
  const ended = client.request('session/prompt', promptOf(id, 'go'))
  const question = await client.until(({ method }) => method === 'elicitation/create')
  const { mode, message, url } = question.params as { readonly [key: string]: string }
  expect({ mode, message }).toMatchObject({ mode: 'url', message: expect.stringContaining('wiki') as string })
  expect(url).toContain(guard.issuer)
  await (await fetch(url ?? '')).text()
  client.send({ id: question.id, result: { action: 'accept' } })
  expect((await ended).result).toMatchObject({ stopReason: 'end_turn' })
  const said = JSON.stringify(client.received)
  expect(said).toContain('The user is logged in to wiki. Its tools are listed now.')
  expect(said).toContain('did say')
  expect(said + logOf(place)).not.toContain('sentinel')
})

test.concurrent('Ctrl-C stops the waiting, and whatever is no such server is said', async () => {
  const { place } = await guarded()
  const login = new Cli(['mcp', 'login', 'wiki'], place)
  await login.until('/authorize')
  login.child.kill('SIGINT')
  expect(await login.finished).toMatchObject({ code: 130, stderr: expect.stringContaining('Waiting') as string })
  const nobody = await parley(['mcp', 'login', 'nobody'], place)
  expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('(configured: wiki)') as string })
  const away = await parley(['mcp', 'login', `http://127.0.0.1:${await freePort()}/mcp`], place)
  expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('Not logged in') as string })
  expect(away.stderr).toContain('ECONNREFUSED')
  const config = join(place.home, 'config/parley/parley.toml')
  writeFileSync(config, `${readFileSync(config, 'utf8')}[mcp.local]\ncommand = "true"\n`)
  expect((await parley(['mcp', 'login', 'local'], place)).stderr).toContain('it is a command')
})
