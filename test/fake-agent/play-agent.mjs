/**
 * An ACP agent for tests, of raw lines and without an SDK. `HOME/case.json` says what it does (`case.ts`), `HOME/log.jsonl` gets
 * every message that it received, `HOME/sessions` is its memory. `agent.mjs` plays it in a process of its own,
 * `hosted-agents.ts` in that of the tests.
 */
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { play } from './moves.mjs'
import { Store } from './store.mjs'

export function planIn(home) {
  return JSON.parse(readFileSync(join(home, 'case.json'), 'utf8'))
}

/** For its log, until it has ended. */
export function logOf({ home, pid, over }) {
  return (line) => {
    if (!over.aborted) appendFileSync(join(home, 'log.jsonl'), `${JSON.stringify({ pid, ...line })}\n`)
  }
}

/**
 * `world` is what it has of a process: `home`, `pid`, `cwd`, `env`, `input`, what it writes to (`write`, `complain`), how it ends
 * (`exit`, `kill`, `crash`), and the signal that is aborted when it has (`over`).
 */
export async function playAgent(world) {
  const agent = new Agent(world)
  agent.log({ start: { cwd: world.cwd, env: world.env } })
  await play(agent.plan.start ?? [], new Scene(agent))
  const lines = createInterface({ input: world.input })
  lines.on('line', (line) => agent.heard(line))
  lines.on('close', () => {
    agent.log({ event: 'eof' })
    if (agent.plan.ignores?.includes('eof')) setInterval(() => {}, 1000)
    else world.exit(0)
  })
}

/** Its end of the pipes. Requests of its own have ids of their own. */
class Wire {
  waiting = new Map()
  lastId = 0
  /** What is written meanwhile, if it is held back. */
  kept = undefined
  #world

  constructor(world) {
    this.#world = world
  }

  write(bytes) {
    if (this.kept === undefined) this.#world.write(Buffer.from(bytes))
    else this.kept += bytes
  }

  send(message) {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  request(method, params) {
    this.lastId += 1
    const id = `fake-${this.#world.pid}-${this.lastId}`
    const answered = new Promise((resolve) => this.waiting.set(id, resolve))
    this.send({ id, method, params })
    return answered
  }

  async held(write) {
    this.kept = ''
    try {
      await write()
      return this.kept
    } finally {
      this.kept = undefined
    }
  }
}

class Agent {
  /** The prompts that run now. */
  open = new Set()

  constructor(world) {
    this.world = world
    this.plan = planIn(world.home)
    this.store = new Store(world.home, this.plan, world.over)
    this.log = logOf(world)
    this.wire = new Wire(world)
    this.loginFile = join(world.home, 'logged-in')
  }

  get wantsLogin() {
    return this.plan.needsLogin && !existsSync(this.loginFile)
  }

  heard(line) {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return this.log({ event: `no JSON: ${line}` })
    }
    this.#received(message).catch((error) => this.world.crash(error))
  }

  async #received(message) {
    const { plan } = this
    this.log({ got: message })
    if (message.method === undefined) return this.wire.waiting.get(message.id)?.(message)
    if (message.method === 'session/cancel') return this.#cancel(message)
    if (message.id === undefined) return
    const scene = new Scene(this, message)
    if (message.method === 'session/prompt') return this.#prompt(scene)
    if (message.method === 'session/new' && plan.on?.[message.method] && !plan.needsLogin)
      scene.sessionId = this.store.create(message.params.cwd)
    await perform(plan.on?.[message.method] ?? [], scene)
  }

  async #prompt(scene) {
    const { plan, store } = this
    if (plan.answersOnePrompt && this.open.size > 0) return
    const known = Boolean(store.read(scene.sessionId)) || plan.dropsUnprompted
    if (this.wantsLogin) return scene.answer({ error: { code: -32000, message: 'Log in first' } })
    if (!known) return scene.answer({ error: { code: -32002, message: `Session not found: ${scene.sessionId}` } })
    this.open.add(scene)
    store.prompted(scene.sessionId, scene.request.params.prompt)
    const text = textOf(scene.request) ?? ''
    await perform(plan.prompts?.[text] ?? plan.prompts?.['*'] ?? [{ chunk: 'echo: {text}' }], scene)
  }

  async #cancel({ params }) {
    const moves = this.plan.on?.['session/cancel']
    if (moves?.length === 0) return
    for (const scene of [...this.open].filter(({ sessionId }) => sessionId === params.sessionId)) {
      scene.fate.isTakenOver = moves !== undefined
      scene.stopped.abort()
      if (moves !== undefined) await perform(moves, Object.create(scene, { stopped: { value: new AbortController() } }))
    }
  }
}

/** One request while it is being answered. */
class Scene {
  stopped = new AbortController()
  /** What becomes of the request, for all that plays for it. */
  fate = { isSilent: false, isAnswered: false, isTakenOver: false }
  words = {}

  constructor(agent, request) {
    this.agent = agent
    this.world = agent.world
    this.home = agent.world.home
    this.store = agent.store
    this.wire = agent.wire
    this.log = agent.log
    this.request = request
    this.sessionId = request?.params?.sessionId
  }

  get signal() {
    return AbortSignal.any([this.stopped.signal, this.world.over])
  }

  /** The same with more words for texts. */
  with(words) {
    return Object.create(this, { words: { value: { ...this.words, ...words } } })
  }

  update(update) {
    this.store.told(this.sessionId, update)
    this.wire.send({ method: 'session/update', params: { sessionId: this.sessionId, update } })
  }

  answer(answer) {
    this.fate.isAnswered = true
    if (this.request?.method === 'session/prompt') endPrompt(this)
    const { id } = this.request ?? {}
    if (id !== undefined) this.wire.send({ id: this.agent.plan.textIds ? String(id) : id, ...answer })
  }

  /** Any JSON with the words of `case.ts` filled in. */
  filled(value) {
    if (Array.isArray(value)) return value.map((one) => this.filled(one))
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.filled(one)]))
    if (typeof value !== 'string' || !value.includes('{')) return value
    return value.replaceAll(/\{([\w.]+)\}/gu, (whole, word) => this.word(word) ?? whole)
  }

  word(word) {
    const session = this.sessionId
    if (word.startsWith('env.')) return this.world.env[word.slice(4)] ?? ''
    if (word === 'text') return textOf(this.request)
    if (word === 'known') return this.store.known(session)
    if (word === 'session') return session
    if (word === 'cwd') return this.world.cwd
    if (word === 'mode') return this.store.offer(session).modes?.currentModeId
    return word === 'now' ? new Date().toISOString() : this.words[word]
  }
}

function endPrompt({ agent, fate, sessionId }) {
  for (const scene of agent.open) if (scene.fate === fate && agent.open.delete(scene)) agent.store.ended(sessionId)
}

const textOf = (request) => request?.params?.prompt?.findLast?.(({ type }) => type === 'text')?.text

/** The usual answers; they throw JSON-RPC errors. */
const USUAL = {
  initialize: ({ params }, { agent: { plan } }) => ({
    protocolVersion: plan.protocolVersion ?? params?.protocolVersion,
    agentCapabilities: plan.capabilities ?? {},
    agentInfo: plan.info ?? { name: 'fake', version: '1.0.0' },
    authMethods: plan.authMethods ?? [],
  }),
  authenticate: (_, { agent }) => writeFileSync(agent.loginFile, ''),
  logout: (_, { agent }) => rmSync(agent.loginFile, { force: true }),
  'session/new'({ params }, scene) {
    requireLogin(scene)
    // Moves before the answer may have spoken of it already.
    scene.sessionId ??= scene.store.create(params.cwd)
    return { sessionId: scene.sessionId, ...scene.store.offer(scene.sessionId) }
  },
  async 'session/load'(_, scene) {
    requireLogin(scene)
    const id = requireSession(scene)
    const { when = 'before' } = scene.agent.plan.replay ?? {}
    const updates = scene.store.replay(id)
    const early = { before: updates.length, after: 0, split: 1 }[when]
    await tell(scene, updates.slice(0, early))
    scene.answer({ result: scene.store.offer(id) })
    await tell(scene, updates.slice(early))
  },
  async 'session/resume'(_, scene) {
    requireLogin(scene)
    const id = requireSession(scene)
    if (scene.agent.plan.replay?.onResume) await tell(scene, scene.store.replay(id))
    return scene.store.offer(id)
  },
  'session/list': ({ params }, { store }) => store.list(params?.cursor),
  'session/fork': ({ params }, scene) => ({ sessionId: scene.store.fork(requireSession(scene), params.cwd) }),
  'session/close': () => undefined,
  'session/delete': ({ params }, { store }) => store.delete(params.sessionId),
  'session/set_mode': ({ params }, { store }) => store.setMode(params.sessionId, params.modeId),
  'session/set_model': () => undefined,
  'session/set_config_option'({ params }, { store }) {
    store.set(params.sessionId, params.configId, params.value)
    return { configOptions: store.offer(params.sessionId).configOptions ?? [] }
  },
  'session/prompt': (_, scene) => ({ stopReason: scene.signal.aborted ? 'cancelled' : 'end_turn' }),
}

function requireLogin({ agent }) {
  if (agent.wantsLogin) throw rpcError(-32000, 'Authentication required')
}

function requireSession({ store, sessionId }) {
  if (store.read(sessionId) === undefined) throw rpcError(-32002, `Session not found: ${sessionId}`)
  return sessionId
}

function rpcError(code, message) {
  return Object.assign(new Error(message), { rpc: { code, message } })
}

async function tell({ agent, wire, sessionId }, updates) {
  for (const update of updates) {
    wire.send({ method: 'session/update', params: { sessionId, update } })
    if (agent.plan.replay?.everyMs) await setTimeout(agent.plan.replay.everyMs)
  }
}

/** Plays the moves, then answers if they have not. */
async function perform(moves, scene) {
  const { fate } = scene
  try {
    await play(moves, scene)
  } catch (error) {
    if (!scene.signal.aborted) throw error
    // The moves of a cancel answer in their place.
    if (fate.isTakenOver || scene.world.over.aborted) return
  }
  if (fate.isSilent || fate.isAnswered) return
  try {
    const usual = USUAL[scene.request.method]
    if (usual === undefined) throw rpcError(-32601, `Method not found: ${scene.request.method}`)
    const result = await usual(scene.request, scene)
    if (!fate.isAnswered) scene.answer({ result: result ?? {} })
  } catch (error) {
    if (error.rpc === undefined) throw error
    scene.answer({ error: error.rpc })
  }
}
