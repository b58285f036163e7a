/** The least that a proxy for an agent does, as the ACP SDK has it: `proxy.ts PROGRAM ARG…`; what comes from one side goes to the other. */
import { spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import { agent, client, ndJsonStream } from '@agentclientprotocol/sdk'

const [program = '', ...args] = process.argv.slice(2)
const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const below = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>)
const above = ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>)

type Notify = (method: 'session/update', params: never) => Promise<void>
let tell: Notify | undefined

const connection = client({ name: 'proxy' })
  .onNotification('session/update', async ({ params }) => tell?.('session/update', params as never))
  .connect(below)

agent({ name: 'proxy' })
  .onRequest('initialize', ({ params }) => connection.agent.request('initialize', params))
  .onRequest('session/new', ({ params }) => connection.agent.request('session/new', params))
  .onRequest('session/load', ({ params, client: upstream }) => {
    tell = upstream.notify.bind(upstream)
    return connection.agent.request('session/load', params)
  })
  .onRequest('session/prompt', ({ params, client: upstream }) => {
    tell = upstream.notify.bind(upstream)
    return connection.agent.request('session/prompt', params)
  })
  .connect(above)
