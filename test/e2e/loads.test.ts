/** What a process had loaded of our sources when it ended: what it did not need would have cost its time and memory. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startModelServer } from '../model-server/server.ts'
import { Cli, endServers, parley } from './cli.ts'
import { textOf, updatesIn } from './message.ts'
import { freshDirectory, initialize, newSession, promptOf, startParley } from './parley.ts'

endServers()

const dist = fileURLToPath(new URL('../../dist/', import.meta.url))
const stdioServer = fileURLToPath(new URL('../fixtures/mcp/stdio-server.mjs', import.meta.url))

/** Behind the code of a bundle stand the paths of its sources. */
const SOURCE = /^\/\/ (?:\S*\/)?((?:src|node_modules)\/\S+)$/gm

interface Report {
  readonly result: readonly { readonly url: string }[]
}

/** The sources of the bundles that Node's reports name. */
function sourcesIn(reports: string): readonly string[] {
  const urls = readdirSync(reports).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(reports, name), 'utf8')) as Report
    return result.map(({ url }) => url)
  })
  const bundles = [...new Set(urls)].filter((url) => url.startsWith(`file://${dist}`))
  return bundles.flatMap((url) => pathsIn(fileURLToPath(url)))
}

function pathsIn(bundle: string): readonly string[] {
  return [...readFileSync(bundle, 'utf8').matchAll(SOURCE)].map(([, path = '']) => path)
}

const owner = 'src/session/session.ts'
const schemas = 'node_modules/zod/v4/core/schemas.js'
const commandLines = 'node_modules/unbash/dist/parser.js'
/** What a session needs, and nobody who waits for the answer to `initialize`. */
const behindTheAnswer = [
  'src/server/compose/sessions.ts',
  owner,
  'src/adapters/builtin-tools/toolset/tool.ts',
  'src/adapters/tool-registry/host.ts',
  'src/config/rules/permission-tables.ts',
  'src/config/mcp/mcp-servers.ts',
  'src/config/models/provider-tables.ts',
  schemas,
  commandLines,
  'node_modules/smol-toml/dist/parse.js',
]
/** Of that, what only a call, or a provider of the settings, needs. */
const loadedWithUse = new Set([commandLines, 'src/config/models/provider-tables.ts'])
const http = 'node_modules/undici/lib/core/connect.js'
const model = 'src/adapters/model/http/provider-requests.ts'
/** What only a server needs that listens for remote clients. */
const remote = [
  'src/edge/http/http-listener.ts',
  'src/credentials/access-tokens.ts',
  'node_modules/ws/lib/websocket.js',
]
/** What only a server needs whose sessions are in PostgreSQL. */
const cluster = [
  'src/server/cluster/open-cluster.ts',
  'src/adapters/journal/postgres/postgres-journal.ts',
  'node_modules/pg/lib/client.js',
]

/** What only a server needs that has a collector of telemetry. */
const telemetry = ['src/server/telemetry/open-telemetry.ts', 'src/adapters/telemetry/otlp-exporter.ts']

test.concurrent('what must not be loaded is somewhere to be loaded from', () => {
  const bundles = readdirSync(join(dist, 'chunks')).map((name) => join(dist, 'chunks', name))
  expect(bundles.flatMap(pathsIn)).toEqual(
    expect.arrayContaining([...behindTheAnswer, ...remote, ...cluster, ...telemetry, http, model]),
  )
})

test.concurrent.each([
  { args: ['ls'], code: 0 },
  { args: ['show', 'nobody'], code: 1 },
  { args: ['--version'], code: 0 },
])('parley $args on what is stored needs nobody who could write it, and no HTTP', async ({ args, code }) => {
  const home = freshDirectory()
  const reports = join(home, 'reports')
  const ended = await parley(args, { home, env: { NODE_V8_COVERAGE: reports } })
  expect(ended).toMatchObject({ code })
  const sources = sourcesIn(reports)
  expect(sources).toContain('src/cli/main.ts')
  for (const one of [owner, http, model]) expect(sources).not.toContain(one)
})

// What is refused because another process owns the state has come as far as it can come without opening sessions.
test.concurrent.each([
  { args: ['acp', '--embedded'], beside: [''] },
  // While it waits for the state it loads what its first client waits for: parameters are read, a session is opened.
  { args: ['serve'], beside: [model, ...behindTheAnswer.filter((one) => !loadedWithUse.has(one))] },
])(
  'parley $args loads nothing before it owns the state that its client does not wait for',
  async ({ args, beside }) => {
    const home = freshDirectory()
    const first = startParley({ home, agent: 'guide' })
    await initialize(first)
    await newSession(first, home)
    const reports = join(home, 'reports')
    const ended = await parley(args, { home, env: { NODE_V8_COVERAGE: reports, PARLEY_MAX_STEPS: '7' } })
    expect(ended).toMatchObject({ code: 75 })
    await first.leave()
    const sources = sourcesIn(reports)
    expect(sources).toContain('src/server/compose/compose.ts')
    const unwanted = [...behindTheAnswer, ...remote, ...cluster, ...telemetry, http, model].filter(
      (one) => !beside.includes(one),
    )
    for (const one of unwanted) expect(sources).not.toContain(one)
  },
)

test.concurrent('the relay loads one bundle, whatever is set, and has nothing of them in it', async () => {
  const home = freshDirectory()
  const reports = join(home, 'reports')
  const variables = { PARLEY_MAX_STEPS: '7', PARLEY_IDLE_MINUTES: '1', PARLEY_MODEL: 'ollama:x' }
  const cli = new Cli(['acp'], { home, env: { NODE_V8_COVERAGE: reports, ...variables } })
  cli.child.stdin.end()
  expect(await cli.finished).toMatchObject({ code: 0 })
  const sources = sourcesIn(reports)
  expect(sources).toContain('src/relay/relay.ts')
  for (const one of [...behindTheAnswer, ...cluster, 'src/server/compose/compose.ts', http, model])
    expect(sources).not.toContain(one)
})

test.concurrent('a session whose servers speak over stdio and that runs no command needs no HTTP and no parser', async () => {
  const home = freshDirectory()
  const reports = join(home, 'reports')
  const client = startParley({ home, agent: 'guide', env: { NODE_V8_COVERAGE: reports } })
  await initialize(client)
  const files = { name: 'files', command: process.execPath, args: [stdioServer, '{}'], env: [] }
  const session = await newSession(client, home, [files])
  await client.request('session/prompt', promptOf(session, '/tools'))
  expect(updatesIn(client.received).map(textOf).join('')).toContain('files__echo')
  await client.leave()
  const sources = sourcesIn(reports)
  expect(sources).toContain(owner)
  for (const one of [http, model, commandLines, ...remote, ...cluster, ...telemetry]) expect(sources).not.toContain(one)
})

test.concurrent('a model is asked without the fetch of Node, which takes 18 ms and 6 MiB to load', async () => {
  const home = freshDirectory()
  const server = await startModelServer(() => [{ text: 'good day' }])
  onTestFinished(() => server.close())
  const [hook, loaded] = [join(home, 'hook.cjs'), join(home, 'loaded')]
  writeFileSync(
    hook,
    `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(loaded)}, process.moduleLoadList.join()))`,
  )
  const env = { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${server.url}/v1`, NODE_OPTIONS: `--require=${hook}` }
  const client = startParley({ home, agent: 'model:openai:scripted', env })
  await initialize(client)
  await client.request('session/prompt', promptOf(await newSession(client, home), 'hello'))
  expect(updatesIn(client.received).map(textOf).join('')).toContain('good day')
  await client.leave()
  const modules = readFileSync(loaded, 'utf8')
  expect(modules).toContain('NativeModule http')
  expect(modules).not.toContain('undici')
})
