/** `parley web`, `pair` and `devices`: a person lets a browser and a phone in, sees them, and throws them out. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs, until } from '../fixtures/process/running.ts'
import { RawWebSocket } from '../wire/raw-web-socket.ts'
import { jsonLines, parley } from './cli.ts'
import { type Place, cleanUpServers, pidIn, placeWith, requirePid, startInBackground } from './server.ts'
import { Terminal, cleanUpTerminals } from './terminal.ts'

cleanUpServers()
cleanUpTerminals()

// While the usual port is taken each server opens one that no other test's server takes when this one is killed.
const usual = createServer()
beforeAll(async () => {
  usual.listen(7777, '127.0.0.1')
  // Another program of this machine may have it already.
  await once(usual, 'listening').catch(() => undefined)
})
afterAll(() => void usual.close())

const FREE_PORT = { PARLEY_LISTEN: '0' }

interface Invited {
  readonly address: string
  readonly link: string
  readonly until: string
  readonly role: string
}

async function objectOf(args: readonly string[], place: Place): Promise<Invited> {
  const { code, stdout, stderr } = await parley([...args, '--json'], place)
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Invited
}

/** As a program uses a link. */
async function use(link: string, name: string) {
  const { origin, hash } = new URL(link)
  const response = await fetch(`${origin}/pair`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: hash.replace('#pair=', ''), name }),
  })
  const { token } = (await response.json()) as { readonly token: string }
  return { token, url: `${origin.replace('http', 'ws')}/acp` }
}

test.concurrent('web starts the server and opens a port of this machine alone; the link makes an administrator, and --close ends it', async () => {
  const place = await placeWith()
  const { address, link, role } = await objectOf(['web'], place)
  expect({ host: new URL(address).hostname, role }).toEqual({ host: '127.0.0.1', role: 'admin' })
  expect(link).toMatch(new RegExp(`^${address}#pair=[\\w-]{26}$`, 'u'))
  const pid = pidIn(place.home)
  expect((await objectOf(['web'], place)).address).toBe(address)
  const { token, url } = await use(link, 'Firefox')
  const client = await RawWebSocket.greeted(url, token)
  expect((await client.request('_parley/status', {})).result).toMatchObject({ pid, clients: 0 })
  expect(jsonLines((await parley(['web', '--close', '--json'], place)).stdout)).toEqual([
    { closed: [new URL(address).host] },
  ])
  await client.closed
  await expect(fetch(`${address}healthz`)).rejects.toThrow(/fetch failed/u)
  expect(pidIn(place.home)).toBe(pid)
  expect(await parley(['web', '--close'], place)).toMatchObject({ code: 0, stdout: 'No port is open.\n' })
})

test.concurrent('a page that was opened is there again after kill -9 and after stop, until it is closed', async () => {
  const place = await placeWith()
  // Starts a server where none runs.
  const start = async () => expect((await parley(['new'], place)).code).toBe(0)
  const { address, link } = await objectOf(['web'], place)
  const { token, url } = await use(link, 'Firefox')
  const pid = requirePid(pidIn(place.home))
  process.kill(pid, 'SIGKILL')
  await until(() => !runs(pid))
  await start()
  await RawWebSocket.greeted(url, token)
  expect((await parley(['stop'], place)).code).toBe(0)
  await start()
  await RawWebSocket.greeted(url, token)
  expect((await parley(['web', '--close'], place)).code).toBe(0)
  expect((await parley(['stop'], place)).code).toBe(0)
  await start()
  await expect(fetch(`${address}healthz`)).rejects.toThrow(/fetch failed/u)
})

test.concurrent('pair gives a role and a name; devices lists and removes, and cuts within a second', async () => {
  const place = await placeWith()
  expect(await parley(['pair'], place)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('parley web') as string,
  })
  await startInBackground(place, FREE_PORT)
  const { link, role } = await objectOf(['pair', '--role', 'read', '--name', "Ada's phone"], place)
  expect(role).toBe('read')
  const { token, url } = await use(link, 'Firefox')
  const client = await RawWebSocket.greeted(url, token)
  const [device] = jsonLines((await parley(['devices', '--json'], place)).stdout)
  expect(device).toMatchObject({ name: "Ada's phone", role: 'read' })
  expect(JSON.stringify(device)).not.toMatch(/sha256|parley_/u)
  expect((await parley(['devices'], place)).stdout).toMatch(/Ada's phone {2}read {2}just now\n$/u)
  expect(await parley(['devices', 'rm', "Ada's phone"], place)).toMatchObject({ code: 0 })
  expect((await client.closed)[0]).toBe(4401)
  expect(await parley(['devices', 'rm', "Ada's phone"], place)).toMatchObject({ code: 1, stdout: '' })
})

test.concurrent.each([
  [['pair', '--role', 'root'], 2],
  [['pair', '--name', 'a\nb', '--url', 'https://x'], 1],
  [['pair', '--url', 'ftp://x'], 2],
])('%j is refused in one line', async (args, expected) => {
  const place = await placeWith()
  const { code, stdout, stderr } = await parley(args, place)
  expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({ code: expected, stdout: '', lines: 1 })
})

test.concurrent('at a terminal there is a QR code, Enter makes a fresh link, and who was paired is named', async () => {
  const place = await placeWith()
  await startInBackground(place, FREE_PORT)
  const terminal = new Terminal(['pair'], place)
  const links = () => terminal.rows.join('\n').match(/http:\S+#pair=[\w-]{26}/gu) ?? []
  await terminal.shows('a QR code', (rows) => rows.filter((row) => /^[█▀▄ ]{30,}$/u.test(row)).length > 9)
  await terminal.shows('a link', () => links().length === 1)
  terminal.press('\r')
  await terminal.shows('another link', () => new Set(links()).size === 2)
  await use(links().at(-1) ?? '', 'Firefox')
  await terminal.until('Paired: Firefox, with the role approve.')
  expect(await terminal.ended()).toBe(0)
})
