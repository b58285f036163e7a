/** The real binary over a directory, asked over HTTP as any client does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Question } from './questions.ts'

const binary = fileURLToPath(new URL('../../bin/parley.mjs', import.meta.url))
const VERSION = '2026-07-28'
const KEY = 'a-key-for-measuring-only'

export interface Found {
  readonly total: number
  readonly notice?: string
}

export class Served {
  readonly #child: ChildProcess
  readonly #url: string

  constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.#url = url
  }

  static async start(directory: string, home: string): Promise<Served> {
    const child = spawn(process.execPath, [binary, 'docs', directory], {
      env: { PATH: process.env['PATH'], PARLEY_HOME: home, PARLEY_DOCS_KEY: KEY },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    return new Served(child, url)
  }

  async search({ query, mode }: Omit<Question, 'kind'>): Promise<Found> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: HEADERS,
      body: bodyOf({ query, mode, limit: 10 }),
    })
    const { result } = (await response.json()) as Answer
    if (result?.structuredContent === undefined) throw new Error(JSON.stringify(result))
    return result.structuredContent
  }

  /** Of the whole process, in bytes: now, and at the most so far. */
  get memory(): { readonly now: number; readonly most: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * 1024
    return { now: kilobytes('VmRSS'), most: kilobytes('VmHWM') }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await exited
  }
}

export function indexFolder(home: string): string {
  return join(home, 'docs-index')
}

interface Answer {
  readonly result?: { readonly structuredContent?: Found }
}

const HEADERS = {
  'Content-Type': 'application/json',
  'X-API-Key': KEY,
  'MCP-Protocol-Version': VERSION,
  'Mcp-Method': 'tools/call',
  'Mcp-Name': 'search_documents',
}

function bodyOf(args: object): string {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  }
  const params = { name: 'search_documents', arguments: args, _meta }
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
}
