#!/usr/bin/env node
/**
 * An ACP agent for tests, of raw lines and without an SDK: `node agent.mjs HOME`. `HOME/case.json` says what it does
 * (`case.ts`), `HOME/log.jsonl` gets every message that it received, `HOME/sessions` is its memory.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { play, writeAll } from './moves.mjs'
import { Store } from './store.mjs'

const [, program, home, inner] = process.argv
const plan = JSON.parse(readFileSync(join(home, 'case.json'), 'utf8'))
const store = new Store(home, plan)
const loginFile = join(home, 'logged-in')

function log(line) {
  appendFileSync(join(home, 'log.jsonl'), `${JSON.stringify({ pid: process.pid, ...line })}\n`)
}

/** Its end of the pipes. Requests of its own have ids of their own. */
const wire = {
  waiting: new Map(),
  lastId: 0,
  /** What is written meanwhile, if it is held back. */
  kept: undefined,
  write(bytes) {
    if (this.kept === undefined) writeAll(1, Buffer.from(bytes))
    else this.kept += bytes
  },
  send(message) {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  },
  request(method, params) {
    this.lastId += 1
    const id = `fake-${process.pid}-${this.lastId}`
    const answered = new Promise((resolve) => this.waiting.set(id, resolve))
    this.send({ id, method, params })
    return answered
  },
  async held(write) {
    this.kept = ''
    try {
      await write()
      return this.kept
    } finally {
      this.kept = undefined
    }
  },
}

/** One request while it is being answered. */
class Scene {
  home = home
  store = store
  wire = wire
  log = log
  stopped = new AbortController()
  /** What becomes of the request, for all that plays for it. */
  fate = { isSilent: false, isAnswered: false, isTakenOver: false }
  words = {}

  constructor(request) {
    this.request = request
    this.sessionId = request?.params?.sessionId
  }

  get signal() {
    return this.stopped.signal
  }

  /** The same with more words for texts. */
  with(words) {
    return Object.create(this, { words: { value: { ...this.words, ...words } } })
  }

  update(update) {
    store.told(this.sessionId, update)
    wire.send({ method: 'session/update', params: { sessionId: this.sessionId, update } })
  }

  answer(answer) {
    this.fate.isAnswered = true
    if (this.request?.method === 'session/prompt') endPrompt(this)
    if (this.request?.id !== undefined) wire.send({ id: this.request.id, ...answer })
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
    if (word.startsWith('env.')) return process.env[word.slice(4)] ?? ''
    if (word === 'text') return textOf(this.request)
    if (word === 'known') return store.known(session)
    if (word === 'session') return session
    if (word === 'cwd') return process.cwd()
    if (word === 'mode') return store.offer(session).modes?.currentModeId
    return word === 'now' ? new Date().toISOString() : this.words[word]
  }
}

/** The prompts that run now. */
const open = new Set()

function endPrompt({ fate, sessionId }) {
  for (const scene of open) if (scene.fate === fate && open.delete(scene)) store.ended(sessionId)
}

const textOf = (request) => request?.params?.prompt?.findLast?.(({ type }) => type === 'text')?.text

/** The usual answers; they throw JSON-RPC errors. */
const USUAL = {
  initialize: ({ params }) => ({
    protocolVersion: plan.protocolVersion ?? params?.protocolVersion,
    agentCapabilities: plan.capabilities ?? {},
    agentInfo: plan.info ?? { name: 'fake', version: '1.0.0' },
    authMethods: plan.authMethods ?? [],
  }),
  authenticate: () => writeFileSync(loginFile, ''),
  logout: () => rmSync(loginFile, { force: true }),
  'session/new'(_, scene) {
    requireLogin()
    // Moves before the answer may have spoken of it already.
    scene.sessionId ??= store.create(scene.request.params.cwd)
    return { sessionId: scene.sessionId, ...store.offer(scene.sessionId) }
  },
  async 'session/load'(_, scene) {
    requireLogin()
    const id = requireSession(scene)
    const { when = 'before' } = plan.replay ?? {}
    const updates = store.replay(id)
    const early = { before: updates.length, after: 0, split: 1 }[when]
    await tell(scene, updates.slice(0, early))
    scene.answer({ result: store.offer(id) })
    await tell(scene, updates.slice(early))
  },
  async 'session/resume'(_, scene) {
    requireLogin()
    if (plan.replay?.onResume) await tell(scene, store.replay(requireSession(scene)))
    return store.offer(requireSession(scene))
  },
  'session/list': ({ params }) => store.list(params?.cursor),
  'session/fork': (_, scene) => ({ sessionId: store.fork(requireSession(scene), scene.request.params.cwd) }),
  'session/close': () => undefined,
  'session/delete': ({ params }) => store.delete(params.sessionId),
  'session/set_mode': ({ params }) => store.setMode(params.sessionId, params.modeId),
  'session/set_model': () => undefined,
  'session/set_config_option'({ params }) {
    store.set(params.sessionId, params.configId, params.value)
    return { configOptions: store.offer(params.sessionId).configOptions ?? [] }
  },
  'session/prompt': (_, scene) => ({ stopReason: scene.signal.aborted ? 'cancelled' : 'end_turn' }),
}

function requireLogin() {
  if (plan.needsLogin && !existsSync(loginFile)) throw rpcError(-32000, 'Authentication required')
}

function requireSession({ sessionId }) {
  if (store.read(sessionId) === undefined) throw rpcError(-32002, `Session not found: ${sessionId}`)
  return sessionId
}

function rpcError(code, message) {
  return Object.assign(new Error(message), { rpc: { code, message } })
}

async function tell({ sessionId }, updates) {
  for (const update of updates) {
    wire.send({ method: 'session/update', params: { sessionId, update } })
    if (plan.replay?.everyMs) await setTimeout(plan.replay.everyMs)
  }
}

async function received(message) {
  log({ got: message })
  if (message.method === undefined) return wire.waiting.get(message.id)?.(message)
  if (message.method === 'session/cancel') return cancel(message)
  if (message.id === undefined) return
  const scene = new Scene(message)
  if (message.method === 'session/prompt') return prompt(scene)
  if (message.method === 'session/new' && plan.on?.[message.method] && !plan.needsLogin)
    scene.sessionId = store.create(message.params.cwd)
  await perform(plan.on?.[message.method] ?? [], scene)
}

async function prompt(scene) {
  if (plan.answersOnePrompt && open.size > 0) return
  const known = Boolean(store.read(scene.sessionId)) || plan.dropsUnprompted
  if (plan.needsLogin && !existsSync(loginFile))
    return scene.answer({ error: { code: -32000, message: 'Log in first' } })
  if (!known) return scene.answer({ error: { code: -32002, message: `Session not found: ${scene.sessionId}` } })
  open.add(scene)
  store.prompted(scene.sessionId, scene.request.params.prompt)
  const text = textOf(scene.request) ?? ''
  await perform(plan.prompts?.[text] ?? plan.prompts?.['*'] ?? [{ chunk: 'echo: {text}' }], scene)
}

/** Plays the moves, then answers if they have not. */
async function perform(moves, scene) {
  const { fate } = scene
  try {
    await play(moves, scene)
  } catch (error) {
    if (!scene.signal.aborted) throw error
    // The moves of a cancel answer in their place.
    if (fate.isTakenOver) return
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

async function cancel({ params }) {
  const moves = plan.on?.['session/cancel']
  if (moves?.length === 0) return
  for (const scene of [...open].filter(({ sessionId }) => sessionId === params.sessionId)) {
    scene.fate.isTakenOver = moves !== undefined
    scene.stopped.abort()
    if (moves !== undefined) await perform(moves, Object.create(scene, { stopped: { value: new AbortController() } }))
  }
}

async function main() {
  log({ start: { cwd: process.cwd(), env: process.env } })
  process.on('exit', () => log({ event: 'exit' }))
  process.on('SIGTERM', () => {
    log({ event: 'SIGTERM' })
    if (!plan.ignores?.includes('SIGTERM')) process.exit(143)
  })
  await play(plan.start ?? [], new Scene())
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => {
    try {
      void received(JSON.parse(line))
    } catch {
      log({ event: `no JSON: ${line}` })
    }
  })
  lines.on('close', () => {
    log({ event: 'eof' })
    if (plan.ignores?.includes('eof')) setInterval(() => {}, 1000)
    else process.exit(0)
  })
}

if (plan.isWrapped && inner === undefined) {
  log({ start: { cwd: process.cwd(), env: process.env }, event: 'wrapper' })
  const child = spawn(process.execPath, [program, home, 'inner'], { stdio: 'inherit' })
  child.on('exit', (code) => process.exit(code ?? 1))
} else {
  await main()
}
