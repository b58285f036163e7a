/** Secrets stay out: a word that nobody could guess goes into every place that takes a secret, and is looked for in everything that comes out. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parley } from './cli.ts'
import type { Fields } from './message.ts'
import { promptOf } from './parley.ts'
import { cleanUp, placeWith, startRelay } from './relays.ts'
import { RawSocket } from './raw-socket.ts'
import { commandLines, filesBelow, leaksIn, newSentinels, secret } from './sentinels.ts'
import { pidIn, requirePid } from './server.ts'
import { socketPathOf } from '../../src/config/socket.ts'

cleanUp()

/** Servers that fail in every way in which a configuration could be quoted. */
async function hostileServers(): Promise<{ readonly servers: readonly Fields[]; readonly close: () => void }> {
  const echo = createServer((request, response) => {
    const said = `${request.url} ${JSON.stringify(request.headers)}`
    response.writeHead(500, said.slice(0, 100).replaceAll(/[^ -~]/gu, ' '), { 'content-type': 'text/plain' })
    response.end(said)
  })
  await new Promise<void>((listening) => echo.listen(0, '127.0.0.1', listening))
  const { port } = echo.address() as AddressInfo
  const url = (place: string, to: number) =>
    `http://${secret(`${place}user`)}:${secret(`${place}password`)}@127.0.0.1:${to}/mcp?api_key=${secret(`${place}query`)}`
  const headers = (place: string) => [
    { name: 'Authorization', value: `Bearer ${secret(`${place}bearer`)}` },
    { name: 'X-Key', value: secret(`${place}header`) },
  ]
  const env = (place: string) => [{ name: 'TOKEN', value: secret(`${place}env`) }]
  const servers = [
    { type: 'http', name: 'echoes', url: url('http', port), headers: headers('http') },
    { type: 'sse', name: 'echoes-sse', url: url('sse', port), headers: headers('sse') },
    { type: 'http', name: 'absent', url: url('absent', 1), headers: headers('absent') },
    { name: 'tells', command: '/bin/sh', args: ['-c', 'echo "my token is $TOKEN" >&2; exit 3'], env: env('told') },
    { name: 'writes', command: '/bin/sh', args: ['-c', 'echo "$TOKEN"; sleep 1'], env: env('written') },
    { name: 'nothing', command: '/no/such/program', args: [], env: env('missing') },
  ]
  return { servers, close: () => echo.close() }
}

/** Requests whose answers could quote what was wrong with them. */
function wrongRequests(cwd: string): readonly (readonly [string, Fields])[] {
  const env = [{ name: 'TOKEN', value: secret('wrongenv') }]
  return [
    ['session/new', { cwd, mcpServers: [{ name: 'a', command: 1, args: [], env }] }],
    ['session/new', { cwd, mcpServers: [{ name: '', command: 'x', args: [], env }] }],
    ['session/new', { cwd, mcpServers: [{ type: 'http', name: 'a', url: secret('wrongurl'), headers: [] }] }],
    ['session/new', { cwd, mcpServers: [{ name: 'a', command: 'x', args: [], env: { TOKEN: secret('wrongshape') } }] }],
    [
      'session/new',
      {
        cwd,
        mcpServers: [{ name: 'a', command: '/bin/true', args: [], env: [{ name: 'A=B', value: secret('wrongname') }] }],
      },
    ],
    [
      'session/new',
      {
        cwd,
        mcpServers: [
          {
            type: 'http',
            name: 'a',
            url: 'http://127.0.0.1:1',
            headers: [{ name: 'bad header', value: secret('wrongheader') }],
          },
        ],
      },
    ],
    [
      'session/new',
      {
        cwd,
        mcpServers: [
          {
            type: 'http',
            name: 'a',
            url: 'http://127.0.0.1:1',
            headers: [{ name: 'X', value: `${secret('wrongvalue')}\n` }],
          },
        ],
      },
    ],
    ['authenticate', { methodId: 'parley-token', _meta: { 'parley/token': secret('wrongtoken') } }],
  ]
}

const NOTIFICATIONS = ['turn', 'presence', 'queue', 'mcp', 'server']

test('secrets of servers and clients are in nothing that anyone else can read [Z6]', { timeout: 120_000 }, async () => {
  newSentinels()
  const token = secret('authtoken')
  const docsKey = secret('docskey')
  const env = { PARLEY_SERVER_TOKEN: token, PARLEY_CLIENT_TOKEN: token, PARLEY_DOCS_KEY: docsKey }
  const place = await placeWith([{ chunk: 'needle' }, { toolCall: { name: 'echoes__any', arguments: {} } }])
  const { servers, close } = await hostileServers()
  const outputs: string[] = []
  let pictures = ''
  const look = (): void => void (pictures += commandLines())
  try {
    const relay = startRelay(place, { env })
    await relay.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    const { result } = await relay.request('session/new', { cwd: place.cwd, mcpServers: servers })
    const sessionId = String(result?.['sessionId'])
    const other = await RawSocket.open(socketPathOf(place.home), { notifications: NOTIFICATIONS })
    await other.request('authenticate', { methodId: 'parley-token', _meta: { 'parley/token': token } })
    expect(await other.request('session/load', { sessionId, cwd: place.cwd, mcpServers: [] })).toHaveProperty('result')
    const turn = relay.request('session/prompt', promptOf(sessionId, 'go'))
    look()
    await turn
    for (const [method, params] of wrongRequests(place.cwd)) await relay.request(method, params)
    for (const args of [
      ['ls', '--json'],
      ['show', sessionId],
      ['show', '--json', sessionId],
      ['search', '--json', 'needle'],
      ['export', sessionId],
      ['export', '--format', 'jsonl', sessionId],
      ['status', '--json'],
      ['doctor'],
      ['logs', '-n', '10000'],
    ]) {
      const { stdout, stderr } = await parley(args, { home: place.home, env })
      outputs.push(stdout, stderr)
    }
    // The relay keeps what it needs to go on in its memory, and starts the next server with it.
    process.kill(requirePid(pidIn(place.home)), 'SIGKILL')
    await relay.request('session/prompt', promptOf(sessionId, 'again'))
    look()
    await relay.leave()
    other.socket.destroy()
    expect(outputs.join('')).toContain('needle')
    expect(leaksIn(JSON.stringify(relay.received))).toEqual([])
    expect(leaksIn(relay.stderr)).toEqual([])
    expect(leaksIn(JSON.stringify(other.received))).toEqual([])
    expect(leaksIn(outputs.join(''))).toEqual([])
    expect(leaksIn(pictures)).toEqual([])
    const files = filesBelow(place.home)
    expect(files.map(([path]) => path)).toEqual(
      expect.arrayContaining([join(place.home, 'journal.db'), join(place.home, 'search.db')]),
    )
    expect(files.flatMap(([path, bytes]) => leaksIn(bytes).map((where) => `${where} in ${path}`))).toEqual([])
  } finally {
    close()
  }
})
