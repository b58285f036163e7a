/** Kills a document server again and again while it takes in changed documents, and looks at what the next one finds at once. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface KillReport {
  readonly rounds: number
  /** Documents that were found as they were before the last change, and as they are. */
  readonly old: number
  readonly anew: number
  /** What was neither: a document with passages of both, or with some missing. */
  readonly both: readonly string[]
}

const DOCUMENTS = 64
const SECTIONS = 6
const KEY = 'a-key-for-killing-servers'
const binary = fileURLToPath(new URL('../../bin/parley.mjs', import.meta.url))

export async function killWhileIndexing(rounds: number): Promise<KillReport> {
  const home = await mkdtemp(join(tmpdir(), 'parley-docs-kill-'))
  const notes = join(home, 'notes')
  const counts = { old: 0, anew: 0 }
  const both: string[] = []
  try {
    await mkdir(notes)
    await writeVersion(notes, 0)
    await stopped(await started(home, notes))
    for (let round = 1; round <= rounds; round++) {
      const child = await started(home, notes)
      await writeVersion(notes, round)
      // From "not noticed yet" to "almost done", differently each time.
      await new Promise((resolve) => setTimeout(resolve, 100 + ((round * 397) % 700)))
      await killed(child)
      const state = await stateNow(home, notes, round)
      counts.old += state.old
      counts.anew += state.anew
      both.push(...state.wrong.map((what) => `round ${round}: ${what}`))
    }
    return { rounds, ...counts, both }
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

async function writeVersion(notes: string, version: number): Promise<void> {
  const section = (i: number) => `## Part ${i}\n\nThis is of version${version} and fills a passage of its own.\n`
  const text = Array.from({ length: SECTIONS }, (_, i) => section(i)).join('\n')
  for (let i = 0; i < DOCUMENTS; i++) await writeFile(join(notes, `${i}.md`), `# Document ${i}\n\n${text}`)
}

interface Running {
  readonly child: ChildProcess
  readonly url: string
}

async function started(home: string, notes: string): Promise<Running> {
  const env = { PATH: process.env['PATH'], PARLEY_HOME: home, PARLEY_DOCS_KEY: KEY }
  const child = spawn(process.execPath, [binary, 'docs', notes], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  await countsIn(url, 'Document')
  return { child, url }
}

async function killed({ child }: Running): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function stopped({ child }: Running): Promise<void> {
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Asked before the documents are looked through again: what the killed server left. */
async function stateNow(
  home: string,
  notes: string,
  round: number,
): Promise<{ old: number; anew: number; wrong: string[] }> {
  const running = await started(home, notes)
  const wrong: string[] = []
  let [old, anew] = [0, 0]
  // Until it has looked, what it finds may be of any round before; together they are all.
  const versions = await Promise.all(
    Array.from({ length: round + 1 }, (_, version) => countsIn(running.url, `version${version}`)),
  )
  for (const [version, counts] of versions.entries()) {
    for (const [file, count] of counts)
      if (count !== SECTIONS) wrong.push(`${file} has ${count} parts of version ${version}`)
    if (version === round) anew += counts.size
    else old += counts.size
  }
  await killed(running)
  return { old, anew, wrong }
}

interface Found {
  readonly result?: {
    readonly isError?: boolean
    readonly structuredContent?: {
      readonly nextCursor?: string
      readonly results: readonly { readonly file: string }[]
    }
  }
}

/** How many passages of each file have the word, all of them from one state of the index. */
async function countsIn(url: string, query: string): Promise<ReadonlyMap<string, number>> {
  for (;;) {
    const counts = new Map<string, number>()
    let cursor: string | undefined
    let changed = false
    do {
      const { result }: Found = await ask(url, { query, limit: 50, ...(cursor === undefined ? {} : { cursor }) })
      const page = result?.structuredContent
      changed = page === undefined
      for (const { file } of page?.results ?? []) counts.set(file, (counts.get(file) ?? 0) + 1)
      cursor = page?.nextCursor
    } while (cursor !== undefined)
    if (!changed) return counts
  }
}

async function ask(url: string, args: object): Promise<Found> {
  const version = '2026-07-28'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'kill', version: '1' },
  }
  const params = { name: 'search_documents', arguments: args, _meta }
  const headers = {
    'Content-Type': 'application/json',
    Authorization: `Bearer ${KEY}`,
    'MCP-Protocol-Version': version,
    'Mcp-Method': 'tools/call',
    'Mcp-Name': 'search_documents',
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  return (await fetch(url, { method: 'POST', headers, body })).json() as Promise<Found>
}
