/** A share link shows one session, live and without a say, until it ends; a token may reach only some sessions. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EventReader, HttpClient } from '../wire/raw-http.ts'
import { RawWebSocket } from '../wire/raw-web-socket.ts'
import { serveHere } from './hosted-server.ts'
import { jsonLines, parley } from './cli.ts'
import { textOf, updatesIn } from './message.ts'
import { promptOf } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { type Place, cleanUpServers, openSession, placeWith } from './server.ts'

cleanUpServers()

async function shared() {
  const place = await placeWith([
    {
      toolCall: {
        toolCallId: 'c',
        title: 'Look',
        kind: 'read',
        status: 'completed',
        rawOutput: { secret: 'tool-said-this' },
      },
    },
    { chunk: 'An answer.' },
  ])
  await serveHere({ home: place.home, env: { PARLEY_LISTEN: '0' } })
  const owner = await RawSocket.open(place.socket, { agent: place.agent })
  const [sessionId, other] = [await openSession(owner, place), await openSession(owner, place)]
  await owner.request('session/prompt', promptOf(sessionId, 'Hi'))
  return { place, owner, sessionId, other }
}

async function share(place: Place, args: readonly string[]) {
  const { code, stdout, stderr } = await parley(['share', ...args, '--json'], place)
  if (code !== 0) throw new Error(stderr)
  const { link, id } = JSON.parse(stdout) as { readonly link: string; readonly id: string }
  const { origin, hash } = new URL(link)
  return { url: `${origin.replace('http', 'ws')}/acp`, code: hash.replace('#share=', ''), id }
}

test.concurrent('a link shows its session alone, live, lets nothing be said, and ends at once when it is taken back', async () => {
  const { place, owner, sessionId, other } = await shared()
  const { url, code, id } = await share(place, [sessionId.slice(0, 8)])
  const reader = await RawWebSocket.greeted(url, code)
  const opening = { cwd: place.cwd, mcpServers: [] }
  expect((await reader.request('session/list', {})).result).toMatchObject({ sessions: [{ sessionId }] })
  expect((await reader.request('session/load', { sessionId: other, ...opening })).error?.data).toMatchObject({
    code: 'SESSION_NOT_FOUND',
  })
  await reader.request('session/load', { sessionId, ...opening })
  expect(JSON.stringify(reader.received)).toContain('tool-said-this')
  expect((await reader.request('session/prompt', promptOf(sessionId, 'x'))).error?.data).toMatchObject({
    code: 'ROLE_TOO_LOW',
  })
  const { length } = reader.received
  await owner.request('session/prompt', promptOf(sessionId, 'Again'))
  await reader.until(
    (message) =>
      reader.received.indexOf(message) >= length && updatesIn([message]).map(textOf).join('').includes('An answer.'),
  )
  expect(jsonLines((await parley(['share', 'ls', '--json'], place)).stdout)).toMatchObject([
    { id, sessionId, tools: true },
  ])
  expect(await parley(['share', 'rm', id], place)).toMatchObject({ code: 0 })
  expect(await reader.closed).toEqual([4401, 'The share link has ended.'])
  await expect(RawWebSocket.open(url, code)).rejects.toThrow(/401/u)
})

test.concurrent('over HTTP a link opens the stream of its session alone; others are 404', async () => {
  const { place, sessionId, other } = await shared()
  const { url, code } = await share(place, [sessionId])
  const http = new HttpClient(url, code)
  const { headers } = await http.post(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}',
  )
  const streamOf = (id: string) =>
    http.stream({ 'acp-connection-id': String(headers['acp-connection-id']), 'acp-session-id': id })
  const never = await streamOf('never-was')
  expect(never).toMatchObject({ status: 404 })
  expect(await streamOf(other)).toMatchObject({ status: 404, text: (never as { readonly text: string }).text })
  expect(await streamOf(sessionId)).toBeInstanceOf(EventReader)
  http.destroy()
})

test.concurrent('a link ends at its hour, in the middle of what it shows', async () => {
  const { place, sessionId } = await shared()
  const { url, code } = await share(place, [sessionId, '--for', '60s'])
  const reader = await RawWebSocket.greeted(url, code)
  // Nothing waits for a minute here: the hour is moved.
  const file = join(place.home, 'share-links.json')
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/"until": "[^"]*"/u, `"until": "${new Date(Date.now() + 300).toISOString()}"`),
  )
  expect((await reader.closed)[0]).toBe(4401)
})

test.concurrent('without tools, what they were given and returned is kept from its readers', async () => {
  const { place, sessionId } = await shared()
  const { url, code } = await share(place, [sessionId, '--no-tools'])
  const reader = await RawWebSocket.greeted(url, code)
  await reader.request('session/load', { sessionId, cwd: place.cwd, mcpServers: [] })
  await reader.request('_parley/page', { sessionId })
  await reader.request('_parley/search', { query: 'tool-said-this' })
  const all = JSON.stringify(reader.received)
  expect(all).toContain('"title":"Look"')
  expect(all).toContain('An answer.')
  expect(all).not.toContain('tool-said-this')
})

test.concurrent('a token reaches the sessions of its directory alone', async () => {
  const { place, owner, sessionId } = await shared()
  await owner.request('session/new', { cwd: '/', mcpServers: [] })
  const { stdout } = await parley(['token', 'add', 'ci', '--role', 'read', '--dir', place.cwd, '--json'], place)
  const { token, scope } = JSON.parse(stdout) as { readonly token: string; readonly scope: unknown }
  expect(scope).toEqual({ directories: [place.cwd] })
  const { url } = await share(place, [sessionId])
  const client = await RawWebSocket.greeted(url, token)
  const { result } = await client.request('session/list', {})
  expect(result?.['sessions']).toMatchObject([{ cwd: place.cwd }, { cwd: place.cwd }])
  expect((await client.request('_parley/search', { query: 'answer' })).result).toMatchObject({
    passages: [{ sessionId }],
  })
  const other = await parley(['token', 'add', 'x', '--role', 'read', '--session', sessionId, '--dir', '/'], place)
  expect(other).toMatchObject({ code: 2, stdout: '' })
})

test.concurrent.each(['0h', '31d', 'x', '-1h', '1.5h', ''])('a link for %j is refused in one line', async (time) => {
  const place = await placeWith()
  const { code, stdout, stderr } = await parley(['share', 'x', '--for', time], place)
  expect({ code, stdout, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, stdout: '', lines: 1 })
})

test.concurrent('an administrator sees and changes over its connection who gets in; nobody else does', async () => {
  const { place, sessionId } = await shared()
  const { url } = await share(place, [sessionId])
  const tokenOf = async (role: string) =>
    (JSON.parse((await parley(['token', 'add', role, '--role', role, '--json'], place)).stdout) as { token: string })
      .token
  const admin = await RawWebSocket.greeted(url, await tokenOf('admin'))
  const ask = async (what: string, params: Readonly<Record<string, unknown>>) =>
    (await admin.request(`_parley/access/${what}`, params)).result ?? {}
  const { code, fragment } = await ask('pair', { role: 'approve', name: 'phone' })
  expect(fragment).toBe(`pair=${String(code)}`)
  const paired = await fetch(url.replace('ws', 'http').replace(/acp$/u, 'pair'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code, name: '' }),
  })
  const { token } = (await paired.json()) as { readonly token: string }
  const phone = await RawWebSocket.greeted(url, token)
  expect((await phone.request('_parley/access/list', {})).error?.data).toMatchObject({ code: 'ROLE_TOO_LOW' })
  const { devices, tokens, shares } = await ask('list', {})
  expect({ devices, tokens, shares }).toMatchObject({
    devices: [{ name: 'phone', role: 'approve' }],
    tokens: [{ name: 'admin' }],
    shares: [{ sessionId }],
  })
  expect(JSON.stringify([devices, tokens, shares])).not.toMatch(/sha256|parley_[\w-]{20}/u)
  const id = (devices as readonly { readonly id: string }[])[0]?.id
  await ask('role', { id, role: 'read' })
  expect((await phone.closed)[0]).toBe(4403)
  const again = await RawWebSocket.greeted(url, token)
  expect((await again.request('_parley/rename', { sessionId, title: 'x' })).error?.data).toMatchObject({
    code: 'ROLE_TOO_LOW',
  })
  await ask('remove', { kind: 'device', id })
  expect((await again.closed)[0]).toBe(4401)
  const made = await ask('share', { sessionId, hours: 1, tools: false })
  const reader = await RawWebSocket.greeted(url, String(made['code']))
  await ask('remove', { kind: 'share', id: String(made['id']) })
  expect((await reader.closed)[0]).toBe(4401)
  const script = await ask('token', { name: 'ci', role: 'read', scope: { sessions: [sessionId] } })
  expect(
    (await (await RawWebSocket.greeted(url, String(script['token']))).request('session/list', {})).result,
  ).toMatchObject({ sessions: [{ sessionId }] })
  for (const [what, params] of [
    ['pair', { role: 'root' }],
    ['token', { name: 'y' }],
    ['share', { sessionId, hours: 0 }],
    ['remove', { kind: 'x', id: 'y' }],
    ['role', {}],
  ] as const)
    expect((await admin.request(`_parley/access/${what}`, params)).error?.data).toMatchObject({
      code: 'PARAMS_INVALID',
    })
})
