/**
 * Holds a short conversation with Parley, so that its processes store what V8 has compiled of them (`code-cache.cjs`). Runs after
 * a build and after an installation, and never fails one of them: without a cache Parley starts more slowly.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('parley.mjs', import.meta.url))
const isBuilt = existsSync(new URL('../dist/main.cjs', import.meta.url))
const TIMEOUT_MS = 60_000

/** The answers to these requests, each sent when the one before is answered; then stdin is closed. */
async function converse(args, environment) {
  const child = spawn(process.execPath, [program, 'acp', ...args], {
    env: environment,
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: TIMEOUT_MS,
  })
  const ended = once(child, 'close')
  // A program that cannot be started, or ends early, is seen by the answer that does not come.
  ended.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let id = 0
  const request = async (method, params) => {
    id += 1
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error(`no answer to ${method}`)
      const message = JSON.parse(value)
      if (message.id === id && message.method === undefined) return message.result ?? {}
    }
  }
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await request('session/new', { cwd: environment.PARLEY_HOME, mcpServers: [] })
  await request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'hello' }] })
  await request('session/list', {})
  child.stdin.end()
  await ended
}

async function rehearse() {
  const home = mkdtempSync(join(tmpdir(), 'parley-cache-'))
  const own = Object.entries(process.env).filter(([name]) => !/^(PARLEY_|OTEL_|NODE_OPTIONS$)/u.test(name))
  const env = { ...Object.fromEntries(own), PARLEY_HOME: home, XDG_CONFIG_HOME: home, PARLEY_AGENT: 'guide' }
  try {
    await converse(['--embedded'], env)
    await converse([], env)
  } finally {
    spawnSync(process.execPath, [program, 'stop'], { env, stdio: 'ignore', timeout: TIMEOUT_MS })
    rmSync(home, { recursive: true, force: true, maxRetries: 3 })
  }
}

if (isBuilt) await rehearse().catch(() => undefined)
