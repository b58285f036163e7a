/** `parley docs` on the real binary: an address on stdout, a key in a file, and no door left open. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { parley } from './cli.ts'
import { binary, freshDirectory } from './parley.ts'

interface Started {
  /** The first line of stdout. */
  readonly url: string
  readonly stderr: () => string
  stop(): Promise<number | null>
}

async function start(
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const child = spawn(process.execPath, [binary, 'docs', ...args], {
    env: { PATH: process.env['PATH'], PARLEY_HOME: home, ...env },
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // Not `exit`, after which its last words may still be on their way.
  const exited = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const line = once(createInterface({ input: child.stdout }), 'line').then(([url]) => String(url))
  const url = await Promise.race([line, exited.then((code) => `exit ${code}`)])
  return {
    url,
    stderr: () => stderr,
    stop() {
      child.kill('SIGTERM')
      return exited
    },
  }
}

function call(url: string, key: string): Promise<Response> {
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
}

function folder(): { readonly home: string; readonly notes: string } {
  const home = freshDirectory()
  const notes = join(home, 'notes')
  mkdirSync(notes)
  writeFileSync(join(notes, 'one.md'), '# One\n\nA word.\n')
  return { home, notes }
}

test('makes a key that only its owner may read, takes that one, and ends when told', async () => {
  const { home, notes } = folder()
  const docs = await start(home, [notes])
  const file = join(home, 'docs.key')
  expect(docs.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/u)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const key = readFileSync(file, 'utf8').trim()
  expect((await call(docs.url, key)).status).toBe(200)
  expect((await call(docs.url, 'wrong')).status).toBe(401)
  expect(docs.stderr()).toContain(file)
  expect(docs.stderr()).not.toContain(key)
  expect(await docs.stop()).toBe(0)
})

test('a named key opens a running server until it is removed, and only its hash is kept', async () => {
  const { home, notes } = folder()
  const docs = await start(home, [notes])
  const added = await parley(['docs', 'key', 'add', 'ci', '--collections', 'notes'], { home })
  const key = added.stdout.trim()
  expect({ code: added.code, key }).toEqual({ code: 0, key: expect.stringMatching(/^[\w-]{32}$/u) })
  const status = async () => (await call(docs.url, key)).status
  // Each look with a key that does not count is a wrong try of this network.
  const seldom = { interval: 250 }
  await expect.poll(status, seldom).toBe(200)
  const listed = await parley(['docs', 'key', 'ls', '--json'], { home })
  expect(JSON.parse(listed.stdout)).toEqual({ name: 'ci', collections: ['notes'], created: expect.any(String) })
  expect(readFileSync(join(home, 'docs-keys/ci.json'), 'utf8')).not.toContain(key)
  expect(statSync(join(home, 'docs-keys/ci.json')).mode & 0o777).toBe(0o600)
  expect((await parley(['docs', 'key', 'add', 'ci'], { home })).stderr).toContain('already')
  expect((await parley(['docs', 'key', 'rm', 'ci'], { home })).code).toBe(0)
  await expect.poll(status, seldom).toBe(401)
  expect((await parley(['docs', 'key', 'rm', 'ci'], { home })).stderr).toContain('There is no key ci')
})

test.each([
  { args: ['add', '', '.'], words: 'cannot be called' },
  { args: ['add', 'notes', ''], words: 'name the directory' },
  { args: ['add', '../x', '.'], words: 'cannot be called' },
  { args: ['add', 'notes', '/nowhere'], words: '/nowhere' },
])('parley docs $args is refused in one line', async ({ args, words }) => {
  const { code, stderr, stdout } = await parley(['docs', ...args], { home: freshDirectory() })
  expect([code === 0, stdout]).toEqual([false, ''])
  expect(stderr).toMatch(/^parley: .*\n$/u)
  expect(stderr).toContain(words)
})

test('warns of the demo key on loopback and refuses it elsewhere', async () => {
  const { home, notes } = folder()
  const demo = { PARLEY_DOCS_KEY: 'demo-mcp-api-key' }
  const near = await start(home, [notes], demo)
  expect((await call(near.url, demo.PARLEY_DOCS_KEY)).status).toBe(200)
  expect(near.stderr()).toMatch(/Warning: .*demo key/u)
  const far = await start(home, [notes, '--host', '0.0.0.0', '--insecure-http'], demo)
  expect(far.url).toBe('exit 1')
  expect(far.stderr()).toMatch(/^parley: .*demo key.*\n$/u)
})

test.each([
  { what: 'a directory that is not there', args: ['/nowhere/at/all'], exit: 1, words: '/nowhere/at/all' },
  { what: 'an empty name, as of a variable that is not set', args: [''], exit: 2, words: 'name the directory' },
  { what: 'an empty port', args: ['.', '--port', ''], exit: 2, words: '--port' },
  { what: 'a port that is none', args: ['.', '--port', '70000'], exit: 2, words: '65535' },
  { what: 'no directory', args: [], exit: 2, words: 'name a directory to serve' },
])('refuses $what in one line', async ({ args, exit, words }) => {
  const docs = await start(freshDirectory(), args)
  expect(docs.url).toBe(`exit ${exit}`)
  expect(docs.stderr()).toContain(words)
  expect(docs.stderr()).not.toContain('    at ')
})
