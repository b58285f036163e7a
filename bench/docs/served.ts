/** The real binary over a directory, asked over HTTP as any client does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type FoundOverHttp, searchOverHttp } from '../../test/docs-search/search-over-http.ts'
import type { Question } from './questions.ts'

const binary = fileURLToPath(new URL('../../bin/parley.mjs', import.meta.url))
const KEY = 'a-key-for-measuring-only'

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

  async search({ query, mode }: Omit<Question, 'kind'>): Promise<FoundOverHttp> {
    const found = await searchOverHttp(this.#url, KEY, { query, mode, limit: 10 })
    if (found === undefined) throw new Error(`no answer to ${query}`)
    return found
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
