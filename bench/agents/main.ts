/**
 * `npm run bench -- agents [--turns N] [--tokens N] [NAME…]`: real agents alone and behind Parley, against a scripted model and
 * without a network. Claude and Codex unless others are named; they must be installed as for `npm run conformance -- agents`.
 * Turns are measured a few at a time on each way, in rotation: an agent is milliseconds slower or faster a minute later.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { DIRECTORY, isInside } from '../../test/agents/real/namespace.ts'
import { type Setup, setUp, setups } from '../../test/agents/real/setups.ts'
import { World } from '../../test/agents/real/world.ts'
import type { RawClient } from '../../test/e2e/raw-client.ts'
import { RawSocket } from '../../test/e2e/raw-socket.ts'
import type { RawConnection } from '../../test/wire/raw-connection.ts'
import { processorMs, residentBytes, treeBytes } from '../proc.ts'
import { mebibytes, median, ms } from '../row.ts'
import { Server } from '../server.ts'

const PROXY = fileURLToPath(new URL('../peers/proxy.ts', import.meta.url))

/** Turns of one way before the next one has its turns. */
const BLOCK = 10

/** A client of the agent, and what is between them. */
interface Way<Client extends RawConnection = RawConnection> {
  readonly name: 'alone' | 'proxy' | 'Parley'
  readonly client: Client
  readonly startMs: number
  /** Of the process between the client and the agent; absent where there is none. */
  readonly pid?: number | undefined
}

/** A way with a session that has had its first turn. */
interface Opened<Client extends RawConnection = RawConnection> extends Way<Client> {
  readonly created: number
  readonly firstToken: number
  readonly sessionId: string
  readonly took: number[]
}

class Bench {
  readonly #world: World
  readonly #setup: Setup
  readonly #turns: number
  readonly #tokens: number

  constructor(world: World, setup: Setup, { turns, tokens }: { readonly turns: number; readonly tokens: number }) {
    this.#world = world
    this.#setup = setup
    this.#turns = turns
    this.#tokens = tokens
  }

  async play(): Promise<void> {
    await this.#meet()
    const bare = await this.#open(await this.#alone('alone'))
    const memory = treeBytes(bare.client.child.pid)
    const proxied = await this.#open(
      await this.#alone('proxy', process.execPath, '--import', import.meta.resolve('tsx'), PROXY),
    )
    const server = await this.#serve()
    try {
      const ours = await this.#open(server.way)
      await this.#compare({ bare, proxied, ours }, { bare: memory, server: server.pid })
    } finally {
      await server.kill()
    }
  }

  async #compare(
    { bare, proxied, ours }: { readonly bare: Opened<RawClient>; readonly proxied: Opened; readonly ours: Opened },
    memory: { readonly bare: number; readonly server: number | undefined },
  ): Promise<void> {
    const ways = [bare, proxied, ours]
    await this.#rotate(ways)
    const row = (what: string, measure: (way: Opened) => number): void =>
      print(
        what,
        ways.map(measure).map((value) => (Number.isNaN(value) ? '–' : ms(value))),
      )
    print(`${this.#setup.name} ${this.#setup.version}`, ['alone', "the SDK's proxy", 'Parley'])
    row('start until initialize is answered', ({ startMs }) => startMs)
    row('session/new', ({ created }) => created)
    row('first prompt to its first token', ({ firstToken }) => firstToken)
    row('from nothing to the first token', ({ startMs, created, firstToken }) => startMs + created + firstToken)
    row(`a turn, p50 of ${bare.took.length}`, ({ took }) => median(took))
    print('cancel to the end of the turn', [ms(await this.#cancel(bare)), '–', ms(await this.#cancel(ours))])
    const perToken = { proxied: await this.#perToken(proxied), ours: await this.#perToken(ours) }
    const micros = [perToken.proxied, perToken.ours].map((each) => `${(each * 1_000).toFixed(1)} µs`)
    print('CPU per token between client and agent', ['–', ...micros])
    const grown = residentBytes(memory.server)
    const loads = [ms(await this.#loadAlone(bare)), '–', `${ms(await this.#loadCold(ours))} cold`]
    print(`load of ${bare.took.length + 1} turns`, loads)
    print('memory', [mebibytes(memory.bare), '–', `+ ${mebibytes(grown)}`])
    console.log(
      `added to a turn: ${ms(median(ours.took) - median(bare.took))} (goal ≤ 5 ms) · CPU per token: ` +
        `${(perToken.ours / perToken.proxied).toFixed(2)} × the proxy's (goal ≤ 1.3)\n`,
    )
  }

  /** Parley says how it starts the agent. */
  async #meet(): Promise<void> {
    const client = await this.#world.client()
    await ok(client, 'session/new', this.#place)
    await this.#world.says('stop')
    await client.kill()
  }

  async #alone(name: Way['name'], ...before: readonly string[]): Promise<Way<RawClient>> {
    const began = performance.now()
    const client = await this.#world.alone(...before)
    return { name, client, startMs: performance.now() - began, ...(before.length > 0 && { pid: client.child.pid }) }
  }

  async #serve() {
    const { name } = this.#setup
    const home = join(DIRECTORY, 'state')
    const env = { ...setUp(this.#setup, this.#world.model.url, join(DIRECTORY, name, 'home')), PARLEY_AGENT: name }
    const began = performance.now()
    const server = await Server.startWith(home, env)
    const client = await RawSocket.open(join(home, 'server.sock'))
    const way: Way = { name: 'Parley', client, startMs: performance.now() - began, pid: server.pid }
    return { way, pid: server.pid, kill: () => server.kill() }
  }

  get #place() {
    return { cwd: this.#world.cwd, mcpServers: [] }
  }

  async #open<Client extends RawConnection>(way: Way<Client>): Promise<Opened<Client>> {
    const { client, name } = way
    const before = performance.now()
    const opened = await ok(client, 'session/new', this.#place)
    const created = performance.now() - before
    const sessionId = String(opened.result?.['sessionId'])
    if (this.#setup.mode !== undefined && name !== 'proxy')
      await client.request('session/set_mode', { sessionId, modeId: this.#setup.mode })
    const { first: firstToken } = await this.#prompt(client, sessionId, '#say zero')
    return { ...way, created, firstToken, sessionId, took: [] }
  }

  async #rotate(ways: readonly Opened[]): Promise<void> {
    for (let turn = 1; turn < this.#turns; turn += BLOCK)
      for (const { client, sessionId, took } of ways)
        for (let next = turn; next < Math.min(turn + BLOCK, this.#turns); next += 1)
          took.push((await this.#prompt(client, sessionId, `#say word${next}`)).whole)
  }

  /** In a session of its own: the first turn warms it up. */
  async #perToken({ client, pid }: Opened): Promise<number> {
    const opened = await ok(client, 'session/new', this.#place)
    const sessionId = String(opened.result?.['sessionId'])
    await this.#prompt(client, sessionId, `#flood ${this.#tokens}`)
    const before = processorMs(pid)
    await this.#prompt(client, sessionId, `#flood ${this.#tokens}`)
    await this.#prompt(client, sessionId, `#flood ${this.#tokens}`)
    return (processorMs(pid) - before) / (2 * this.#tokens)
  }

  async #loadAlone({ client, sessionId }: Opened<RawClient>): Promise<number> {
    await client.kill()
    const again = await this.#world.alone()
    return timed(ok(again, 'session/load', { ...this.#place, sessionId }))
  }

  async #loadCold({ client, sessionId }: Opened): Promise<number> {
    await ok(client, 'session/close', { sessionId })
    return timed(ok(client, 'session/load', { ...this.#place, sessionId }))
  }

  async #cancel({ client, sessionId }: Opened): Promise<number> {
    const text = { type: 'text', text: '#long river' }
    const id = client.ask('session/prompt', { sessionId, prompt: [text] })
    await client.until((message) => JSON.stringify(message).includes('river 3 '))
    const began = performance.now()
    client.notify('session/cancel', { sessionId })
    await client.answerTo(id)
    return performance.now() - began
  }

  async #prompt(client: RawConnection, sessionId: string, text: string) {
    const began = performance.now()
    let first: number | undefined
    const stop = client.listen(({ params }) => {
      const { sessionUpdate } = (params?.['update'] ?? {}) as { readonly sessionUpdate?: string }
      if (sessionUpdate === 'agent_message_chunk') first ??= performance.now() - began
    })
    await ok(client, 'session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
    stop()
    return { first: first ?? Number.NaN, whole: performance.now() - began }
  }
}

async function ok(client: RawConnection, method: string, params: Record<string, unknown>) {
  const answer = await client.request(method, params)
  if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`)
  // What was heard is not searched again with each prompt.
  client.received.length = 0
  return answer
}

async function timed(work: Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work
  return performance.now() - began
}

function print(what: string, cells: readonly string[]): void {
  console.log([what.padEnd(40), ...cells.map((cell) => cell.padEnd(18))].join(' | '))
}

if (await isInside(import.meta.filename)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { turns: { type: 'string', default: '200' }, tokens: { type: 'string', default: '5000' } },
  })
  const sizes = { turns: Number(values.turns), tokens: Number(values.tokens) }
  const names = positionals.length > 0 ? positionals : ['claude', 'codex']
  for (const setup of setups.filter(({ name }) => names.includes(name))) {
    const world = await World.open(setup, DIRECTORY)
    try {
      await new Bench(world, setup, sizes).play()
    } finally {
      await world.close()
    }
  }
}
