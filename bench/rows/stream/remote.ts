/** The transports side by side, on one server: updates a second, processor time, memory of idle connections, and what nginx adds. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AccessTokens } from '../../../src/credentials/access-tokens.ts'
import { socketPathOf } from '../../../src/config/socket.ts'
import { RawSocket } from '../../../test/e2e/raw-socket.ts'
import { freePort } from '../../../test/fixtures/process/free-port.ts'
import type { RawConnection } from '../../../test/wire/raw-connection.ts'
import { RawHttp } from '../../../test/wire/raw-http.ts'
import { RawWebSocket } from '../../../test/wire/raw-web-socket.ts'
import { type Measuring, type Row, median, mebibytes, ms, perSecond, quantile, times } from '../../row.ts'
import { freshHome, writeScript } from '../../scene.ts'
import { Server } from '../../server.ts'
import { frames } from './frames.ts'

const MANY_LINES = ['parley.lines.v1', 'acp.v1']
const IDLE = 1_000
/** Far above what is measured: no limit is what is being measured. */
const NO_LIMITS = {
  PARLEY_REMOTE_CONNECTIONS: '8000',
  PARLEY_REMOTE_REQUESTS_PER_SECOND: '100000',
  PARLEY_REMOTE_SESSIONS_PER_MINUTE: '10000',
}

type Client = RawConnection & { leave(): Promise<void> }

interface Figure {
  /** Updates a second. */
  readonly rate: number
  /** Processor time of the server for one update, in microseconds. */
  readonly processor: number
}

export async function remote({ quick, directory }: Measuring): Promise<readonly Row[]> {
  const chunks = quick ? 10_000 : 50_000
  const home = freshHome(directory)
  const port = await freePort()
  const script = writeScript(directory, [{ chunk: 'and {n} more words ', times: chunks }])
  const token = new AccessTokens(home, Date).add('bench', 'admin')
  const server = await Server.startWith(home, {
    PARLEY_AGENT: `script:${script}`,
    PARLEY_LISTEN: String(port),
    ...NO_LIMITS,
  })
  const url = `ws://127.0.0.1:${port}/acp`
  const ways: readonly (readonly [name: string, open: () => Promise<Client>])[] = [
    ['WebSocket, a message a frame', () => RawWebSocket.greeted(url, token)],
    ['WebSocket, many lines a frame', () => RawWebSocket.greeted(url, token, MANY_LINES)],
    ['Streamable HTTP', () => RawHttp.greeted(url, token)],
  ]
  try {
    const over = async (open: () => Promise<Client>): Promise<Figure> =>
      streamed(server, await open(), { directory, chunks, quick })
    const local = await over(() => RawSocket.open(socketPathOf(home)))
    const rows: Row[] = []
    for (const [name, open] of ways) rows.push(rowOf(name, await over(open), local))
    const socket = await RawSocket.open(socketPathOf(home))
    rows.push(await pings({ url, token, port, directory, socket, quick }))
    await socket.leave()
    rows.push(await idle(server, () => RawWebSocket.greeted(url, token)))
    return [...rows, ...(await frames({ quick, directory }))]
  } finally {
    await server.kill()
  }
}

function rowOf(name: string, { rate, processor }: Figure, local: Figure): Row {
  return {
    what: `durable updates over ${name}`,
    measured: `${perSecond(rate)}, ${processor.toFixed(0)} µs CPU each`,
    goal: '–',
    floor: `${perSecond(local.rate)}, ${local.processor.toFixed(0)} µs CPU: the socket`,
    ok: true,
  }
}

async function streamed(
  server: Server,
  client: Client,
  { directory, chunks, quick }: Measuring & { readonly chunks: number },
): Promise<Figure> {
  const { result } = await client.request('session/new', { cwd: directory, mcpServers: [] })
  const sessionId = String(result?.['sessionId'])
  const prompt = { sessionId, prompt: [{ type: 'text', text: 'go' }] }
  await client.request('session/prompt', prompt)
  const rates: number[] = []
  const turns = quick ? 2 : 5
  const before = server.processorMs()
  for (let turn = 0; turn < turns; turn += 1) {
    client.received.length = 0
    const began = performance.now()
    await client.request('session/prompt', prompt)
    rates.push((chunks / (performance.now() - began)) * 1_000)
  }
  const processor = ((server.processorMs() - before) * 1_000) / (turns * chunks)
  await client.leave()
  return { rate: median(rates), processor }
}

interface Pinging {
  readonly url: string
  readonly token: string
  readonly port: number
  readonly directory: string
  readonly socket: Client
  readonly quick: boolean
}

/** There and back, one after the other. */
async function pings({ url, token, port, directory, socket, quick }: Pinging): Promise<Row> {
  const count = quick ? 300 : 3_000
  const local = await timed(socket, count)
  const direct = await RawWebSocket.greeted(url, token)
  const straight = await timed(direct, count)
  await direct.leave()
  const proxy = await nginx(directory, port)
  const behind = proxy && (await RawWebSocket.greeted(`ws://127.0.0.1:${proxy.port}/acp`, token))
  const through = behind && (await timed(behind, count))
  await behind?.leave()
  proxy?.child.kill('SIGKILL')
  const said = (all: readonly number[]): string => `${ms(median(all))}, p99 ${ms(quantile(all, 0.99))}`
  return {
    what: 'a request over WebSocket and back, behind nginx',
    measured: through === undefined ? 'nginx is not there' : said(through),
    goal: '–',
    floor: `${said(straight)} without; ${said(local)}: the socket`,
    ok: true,
  }
}

async function timed(client: Client, count: number): Promise<readonly number[]> {
  const all: number[] = []
  for (let n = 0; n < count; n += 1) {
    client.received.length = 0
    const began = performance.now()
    await client.request('_parley/ping', {})
    all.push(performance.now() - began)
  }
  return all
}

/** Undefined where it is not installed. */
async function nginx(
  directory: string,
  port: number,
): Promise<{ readonly port: number; readonly child: ChildProcess } | undefined> {
  const own = await freePort()
  const place = join(directory, 'nginx')
  mkdirSync(place)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${place}/${kind};`,
  )
  const passing =
    'proxy_http_version 1.1; proxy_set_header Host $host; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; proxy_buffering off;'
  const http = `access_log off; ${temporary.join(' ')} server { listen 127.0.0.1:${own}; location / { proxy_pass http://127.0.0.1:${port}; ${passing} } }`
  const conf = join(place, 'nginx.conf')
  writeFileSync(
    conf,
    `daemon off; master_process off; pid ${place}/pid; error_log /dev/null; events {}\nhttp { ${http} }\n`,
  )
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` }
  const program = 'nginx'
  const child = spawn(program, ['-p', place, '-c', conf], { env, stdio: 'ignore' })
  const failed = new Promise<true>((resolve) =>
    child.once('error', () => resolve(true)).once('exit', () => resolve(true)),
  )
  for (;;) {
    const answered = await Promise.race([
      failed.then(() => 'failed' as const),
      fetch(`http://127.0.0.1:${own}/healthz`).then(
        () => 'up' as const,
        () => 'down' as const,
      ),
    ])
    if (answered === 'up') return { port: own, child }
    if (answered === 'failed') return undefined
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Greeted, and then silent. */
async function idle(server: Server, open: () => Promise<Client>): Promise<Row> {
  const clients: Client[] = [await open()]
  const before = server.memory()
  while (clients.length <= IDLE) clients.push(...(await Promise.all(Array.from({ length: 50 }, open))))
  const after = server.memory()
  const made = clients.length - 1
  for (const client of clients) await client.leave()
  return {
    what: `${IDLE.toLocaleString('en')} idle connections over WebSocket`,
    measured: `${mebibytes(after)}, ${(Math.max(0, after - before) / made / 1024).toFixed(0)} KiB each`,
    goal: '–',
    floor: `${mebibytes(before)} with one, ${times(after / before)}`,
    ok: true,
  }
}
