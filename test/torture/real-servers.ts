/** `npm run conformance -- mcp-servers`: servers that others wrote, from the registry, through our host over every transport that they speak; prints a transcript. */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { McpServer, ToolCallOptions, ToolProgress, ToolRegistry } from '../../src/ports/tools.ts'
import { freePort } from '../fixtures/process/free-port.ts'
import { openBench } from '../fixtures/mcp/servers.ts'

/** Pinned here and not in package.json: nothing of them is ever imported. */
const VERSION = '2026.8.31'
const NAMES = ['everything', 'filesystem', 'memory']
const PLACE = join(tmpdir(), `parley-real-servers-${VERSION}`)
const WORK = join(PLACE, 'work')
const LONG = 'trigger-long-running-operation'
const never = new AbortController().signal

interface Shown {
  readonly title: string
  readonly server: McpServer
  readonly show: (registry: ToolRegistry) => Promise<void>
}

async function main(): Promise<void> {
  await install()
  await showOne({ title: 'server-everything over stdio', server: stdio('everything', []), show: showEverything })
  for (const type of ['http', 'sse'] as const) await overNetwork(type)
  await showOne({ title: 'server-filesystem over stdio', server: stdio('filesystem', [WORK]), show: showFiles })
  await showOne({ title: 'server-memory over stdio', server: stdio('memory', []), show: showMemory })
}

async function install(): Promise<void> {
  mkdirSync(WORK, { recursive: true })
  writeFileSync(join(WORK, 'hello.txt'), 'hello\n')
  writeFileSync(join(PLACE, 'package.json'), '{"private":true}')
  if (existsSync(programOf('memory'))) return
  const wanted = NAMES.map((name) => `@modelcontextprotocol/server-${name}@${VERSION}`)
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', ...wanted], { cwd: PLACE })
}

function programOf(name: string): string {
  return join(PLACE, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)
}

function stdio(name: string, args: readonly string[]): McpServer {
  const env = { MEMORY_FILE_PATH: join(WORK, 'memory.json') }
  return { type: 'stdio', name, command: process.execPath, args: [programOf(name), ...args], env }
}

async function overNetwork(type: 'http' | 'sse'): Promise<void> {
  const port = await freePort()
  const transport = type === 'http' ? 'streamableHttp' : 'sse'
  const child = spawn(process.execPath, [programOf('everything'), transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    await said(child, String(port))
    const url = `http://127.0.0.1:${port}/${type === 'http' ? 'mcp' : 'sse'}`
    const server: McpServer = { type, name: 'everything', url, headers: [] }
    await showOne({ title: `server-everything over ${transport}`, server, show: showEverything })
    // A client that was told nothing of SSE finds out by itself.
    if (type === 'sse')
      await showOne({
        title: 'the same, named as http',
        server: { ...server, type: 'http' },
        show: async () => undefined,
      })
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

async function said(child: ChildProcess, words: string): Promise<void> {
  let text = ''
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the server ended: ${text}`)))
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (text.includes(words)) resolve()
    })
  })
}

async function showOne({ title, server, show }: Shown): Promise<void> {
  const bench = openBench({ elicitation: true })
  try {
    const registry = bench.open([server], title, WORK)
    const { servers, tools, resources, prompts } = await registry.ready(40_000, never)
    const [status] = servers
    console.log(`\n## ${title}\n`)
    console.log(
      `- ${status?.state}, MCP ${status?.protocol ?? '?'} (${status?.era ?? '?'}) ${status?.reason ?? ''}`.trimEnd(),
    )
    console.log(`- ${tools.length} tools: ${tools.map(({ serverToolName }) => serverToolName).join(', ')}`)
    if (resources.length + prompts.length > 0) console.log(`- ${resources.length} resources, ${prompts.length} prompts`)
    await show(registry)
    for (const warning of bench.warnings) console.log(`- warned: ${warning}`)
  } finally {
    await bench.close()
  }
}

async function showEverything(registry: ToolRegistry): Promise<void> {
  await shownCall(registry, { tool: 'everything__echo', args: { message: 'hello' } })
  const seen: ToolProgress[] = []
  const onProgress = (progress: ToolProgress): void => void seen.push(progress)
  await shownCall(registry, { tool: `everything__${LONG}`, args: { duration: 1, steps: 4 }, options: { onProgress } })
  console.log(`  progress: ${seen.map(({ progress, total }) => `${progress}/${total}`).join(' ')}`)
  await cancelled(registry)
  if (!registry.list().tools.some(({ serverToolName }) => serverToolName === 'trigger-elicitation-request')) return
  const onElicit: ToolCallOptions['onElicit'] = async (question) => {
    console.log(`  ${question.server} asks (${question.mode}): ${question.message}`)
    return { action: 'accept', content: { name: 'Ada', check: true } }
  }
  await shownCall(registry, { tool: 'everything__trigger-elicitation-request', args: {}, options: { onElicit } })
}

async function cancelled(registry: ToolRegistry): Promise<void> {
  const abort = new AbortController()
  const onProgress = (): void => abort.abort()
  const began = performance.now()
  const args = { duration: 20, steps: 40 }
  const error = await registry
    .call(`everything__${LONG}`, args, { signal: abort.signal, onProgress })
    .catch((thrown: unknown) => thrown)
  const code = (error as { readonly code?: string }).code ?? 'no error'
  console.log(`- a call of 20 s, cancelled at its first progress: ${code} after ${seconds(began)} s`)
}

async function showFiles(registry: ToolRegistry): Promise<void> {
  await shownCall(registry, { tool: 'filesystem__list_directory', args: { path: WORK } })
  await shownCall(registry, { tool: 'filesystem__read_text_file', args: { path: join(WORK, 'hello.txt') } })
  await shownCall(registry, { tool: 'filesystem__read_text_file', args: { path: '/etc/hostname' } })
}

async function showMemory(registry: ToolRegistry): Promise<void> {
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }]
  await shownCall(registry, { tool: 'memory__create_entities', args: { entities } })
  await shownCall(registry, { tool: 'memory__search_nodes', args: { query: 'programs' } })
  await shownCall(registry, { tool: 'memory__delete_entities', args: { entityNames: ['Ada'] } })
}

interface Asked {
  readonly tool: string
  readonly args: object
  readonly options?: Partial<ToolCallOptions>
}

async function shownCall(registry: ToolRegistry, { tool: name, args, options }: Asked): Promise<void> {
  const result = await registry.call(name, args, { signal: never, ...options })
  const words = result.content.map((one) => (one.type === 'text' ? one.text : `(${one.type})`)).join(' ')
  const shown = words.replaceAll(PLACE, '…').replace(/\s+/gu, ' ').slice(0, 240)
  console.log(`- ${name} ${JSON.stringify(args).replaceAll(PLACE, '…')}${result.isError ? ' fails' : ''}: ${shown}`)
}

function seconds(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1)
}

await main()
