/**
 * `npm run bench -- agents [--turns N] [--tokens N] [NAME…]`: real agents alone and behind Parley, against a scripted model and
 * without a network. Claude and Codex unless others are named; they must be installed as for `npm run conformance -- agents`.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { DIRECTORY, isInside } from '../../test/agents/real/namespace.ts'
import { type Setup, setUp, setups } from '../../test/agents/real/setups.ts'
import { World } from '../../test/agents/real/world.ts'
import { RawSocket } from '../../test/e2e/raw-socket.ts'
import type { RawConnection } from '../../test/wire/raw-connection.ts'
import { processorMs, residentBytes, treeBytes } from '../proc.ts'
import { mebibytes, median, ms } from '../row.ts'
import { Server } from '../server.ts'

const PROXY = fileURLToPath(new URL('../peers/proxy.ts', import.meta.url))

/** A client of the agent, and what is between them. */
interface Way {
  readonly name: string
  readonly client: RawConnection
  readonly startMs: number
  /** Of the process between the client and the agent; absent where there is none. */
  readonly pid?: number | undefined
}

interface Figures {
  readonly start: number
  readonly created: number
  readonly firstToken: number
  readonly turn: number
  readonly cancel: number
  readonly perToken?: number
  readonly sessionId: string
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
    const bare = await this.#alone()
    const proxied = await this.#proxied()
    const ours = await this.#behind()
    const row = (what: string, measure: (figures: Figures) => number): void =>
      print(
        what,
        [bare, proxied, ours].map(measure).map((value) => (Number.isNaN(value) ? '–' : ms(value))),
      )
    print(`${this.#setup.name} ${this.#setup.version}`, ['alone', "the SDK's proxy", 'Parley'])
    row('start until initialize is answered', ({ start }) => start)
    row('session/new', ({ created }) => created)
    row('first prompt to its first token', ({ firstToken }) => firstToken)
    row('from nothing to the first token', ({ start, created, firstToken }) => start + created + firstToken)
    row(`a turn, p50 of ${this.#turns}`, ({ turn }) => turn)
    row('cancel to the end of the turn', ({ cancel }) => cancel)
    print('CPU per token between client and agent', [
      '–',
      ...[proxied, ours].map(({ perToken = 0 }) => `${(perToken * 1_000).toFixed(1)} µs`),
    ])
    print(`load of ${this.#turns} turns`, [ms(bare.load), '–', `${ms(ours.load)} cold`])
    print('memory', [mebibytes(bare.memory), '–', `+ ${mebibytes(ours.memory)}`])
    console.log(
      `added to a turn: ${ms(ours.turn - bare.turn)} (goal ≤ 5 ms) · CPU per token: ` +
        `${((ours.perToken ?? 0) / (proxied.perToken ?? 1)).toFixed(2)} × the proxy's (goal ≤ 1.3)\n`,
    )
  }

  /** Parley says how it starts the agent. */
  async #meet(): Promise<void> {
    const client = await this.#world.client()
    await ok(client, 'session/new', this.#place)
    await this.#world.says('stop')
    await client.kill()
  }

  async #alone(): Promise<Figures & { readonly load: number; readonly memory: number }> {
    const began = performance.now()
    const client = await this.#world.alone()
    const figures = await this.#figures({ name: 'alone', client, startMs: performance.now() - began })
    const memory = treeBytes(client.child.pid)
    await client.kill()
    const again = await this.#world.alone()
    const load = await timed(ok(again, 'session/load', { ...this.#place, sessionId: figures.sessionId }))
    await again.kill()
    return { ...figures, load, memory }
  }

  async #proxied(): Promise<Figures> {
    const began = performance.now()
    const client = await this.#world.alone(process.execPath, '--import', import.meta.resolve('tsx'), PROXY)
    const way = { name: 'proxy', client, startMs: performance.now() - began, pid: client.child.pid }
    const figures = await this.#figures(way)
    await client.kill()
    return figures
  }

  async #behind(): Promise<Figures & { readonly load: number; readonly memory: number }> {
    const { name } = this.#setup
    const home = join(DIRECTORY, 'state')
    const env = { ...setUp(this.#setup, this.#world.model.url, join(DIRECTORY, name, 'home')), PARLEY_AGENT: name }
    const began = performance.now()
    const server = await Server.startWith(home, env)
    try {
      const client = await RawSocket.open(join(home, 'server.sock'))
      const startMs = performance.now() - began
      const figures = await this.#figures({ name: 'Parley', client, startMs, pid: server.pid })
      const memory = residentBytes(server.pid)
      const { sessionId } = figures
      await ok(client, 'session/close', { sessionId })
      const load = await timed(ok(client, 'session/load', { ...this.#place, sessionId }))
      return { ...figures, load, memory }
    } finally {
      await server.kill()
    }
  }

  get #place() {
    return { cwd: this.#world.cwd, mcpServers: [] }
  }

  async #figures({ name, client, startMs, pid }: Way): Promise<Figures> {
    const before = performance.now()
    const opened = await ok(client, 'session/new', this.#place)
    const created = performance.now() - before
    const sessionId = String(opened.result?.['sessionId'])
    if (this.#setup.mode !== undefined && name !== 'proxy')
      await client.request('session/set_mode', { sessionId, modeId: this.#setup.mode })
    const { first } = await this.#prompt(client, sessionId, '#say zero')
    const took: number[] = []
    for (let turn = 1; turn < this.#turns; turn += 1)
      took.push((await this.#prompt(client, sessionId, `#say word${turn}`)).whole)
    const cancel = name === 'proxy' ? Number.NaN : await this.#cancel(client, sessionId)
    const figures = { start: startMs, created, firstToken: first, turn: median(took), cancel, sessionId }
    return pid === undefined ? figures : { ...figures, perToken: await this.#perToken(client, pid) }
  }

  /** In a session of its own: the first turn warms it up. */
  async #perToken(client: RawConnection, pid: number): Promise<number> {
    const opened = await ok(client, 'session/new', this.#place)
    const sessionId = String(opened.result?.['sessionId'])
    await this.#prompt(client, sessionId, `#flood ${this.#tokens}`)
    const before = processorMs(pid)
    await this.#prompt(client, sessionId, `#flood ${this.#tokens}`)
    await this.#prompt(client, sessionId, `#flood ${this.#tokens}`)
    return (processorMs(pid) - before) / (2 * this.#tokens)
  }

  async #cancel(client: RawConnection, sessionId: string): Promise<number> {
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
