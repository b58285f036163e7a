/** Kills a document server again and again while it takes in changed documents, and looks at what the next one finds at once. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { chanceOf } from '../series/chance.ts'
import type { Scenario } from '../series/series.ts'
import { searchOverHttp } from './search-over-http.ts'

/** What one kill has left. */
export interface DocsRound {
  readonly seed: number
  /** Documents that were found as they were before the last change, and as they are. */
  readonly old: number
  readonly anew: number
  /** What was neither: a document with passages of both, or with some missing. */
  readonly wrong: readonly string[]
}

const DOCUMENTS = 400
const SECTIONS = 6
const KEY = 'a-key-for-killing-servers'
const binary = fileURLToPath(new URL('../../bin/parley.mjs', import.meta.url))

/** From "not noticed yet" to "almost done". Milliseconds. */
const LONGEST_WAIT = 2_500

/** One state directory and its documents; every run changes them all and kills the server that takes the change in. */
export class DocsKill implements Scenario<number, DocsRound>, AsyncDisposable {
  readonly #home: string
  readonly #notes: string
  #version = 0

  private constructor(home: string) {
    this.#home = home
    this.#notes = join(home, 'notes')
  }

  static async open(): Promise<DocsKill> {
    const kill = new DocsKill(await mkdtemp(join(tmpdir(), 'parley-docs-kill-')))
    await mkdir(kill.#notes)
    await writeVersion(kill.#notes, 0)
    await kill.allFound()
    return kill
  }

  async play(seed: number): Promise<readonly DocsRound[]> {
    const running = await started(this.#home, this.#notes)
    await allFound(running.url, this.#version)
    this.#version += 1
    await writeVersion(this.#notes, this.#version)
    await sleep(chanceOf(seed).between(0, LONGEST_WAIT))
    await killed(running)
    return [{ seed, ...(await stateLeft(this.#home, this.#version)) }]
  }

  /** A server that is left alone finds every document as it is. */
  async allFound(): Promise<void> {
    const last = await started(this.#home, this.#notes)
    await allFound(last.url, this.#version)
    await stopped(last)
  }

  findings({ wrong }: DocsRound): readonly string[] {
    return wrong
  }

  title({ seed }: DocsRound): string {
    return `seed ${seed}:`
  }

  again({ seed }: DocsRound): string {
    return `npm run kill -- docs --runs 1 --seed ${seed}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#home, { recursive: true, force: true })
  }
}

async function writeVersion(notes: string, version: number): Promise<void> {
  const section = (i: number) => `## Part ${i}\n\nThis is of version${version} and fills a passage of its own.\n`
  const text = Array.from({ length: SECTIONS }, (_, i) => section(i)).join('\n')
  for (let i = 0; i < DOCUMENTS; i++) {
    // At once, as careful programs do: a file that is being written is as empty as it looks.
    await writeFile(join(notes, `${i}.draft`), `# Document ${i}\n\n${text}`)
    await rename(join(notes, `${i}.draft`), join(notes, `${i}.md`))
  }
}

interface Running {
  readonly child: ChildProcess
  readonly url: string
}

async function started(home: string, notes: string): Promise<Running> {
  const env = { PATH: process.env['PATH'], PARLEY_HOME: home, PARLEY_DOCS_KEY: KEY }
  const child = spawn(process.execPath, [binary, 'docs', notes], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
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

interface StoredPassage {
  readonly id: number
  readonly file: string
  readonly text: string
}

/** What the killed server left, as the next one would open it: the passages, and the words that find them. */
async function stateLeft(home: string, round: number): Promise<Omit<DocsRound, 'seed'>> {
  const folder = join(home, 'docs-index')
  const name = (await readdir(folder)).find((file) => file.endsWith('.sqlite'))
  const database = new DatabaseSync(join(folder, name ?? 'none'))
  try {
    const stored = database
      .prepare(
        'SELECT p.id, d.file, t.text FROM passages p JOIN texts t ON t.id = p.id JOIN documents d ON d.id = p.document',
      )
      .all() as readonly StoredPassage[]
    const versions = new Map<string, string[]>()
    for (const { file, text } of stored) {
      versions.set(file, [...(versions.get(file) ?? []), /version\d+/.exec(text)?.[0] ?? 'none'])
    }
    const words = database.prepare('SELECT rowid AS id FROM words WHERE words MATCH ?').all('fills')
    const findable = new Set((words as readonly { readonly id: number }[]).map(({ id }) => id))
    const lost = stored.filter(({ id }) => !findable.delete(id)).map(({ id }) => `passage ${id} is not found`)
    const { wrong, ...counts } = judged(versions, round)
    return { ...counts, wrong: [...wrong, ...lost, ...[...findable].map((id) => `${id} finds no passage`)] }
  } finally {
    database.close()
  }
}

function judged(versions: ReadonlyMap<string, readonly string[]>, round: number): Omit<DocsRound, 'seed'> {
  const wrong = Array.from({ length: DOCUMENTS }, (_, i) => `${i}.md`)
    .map((file) => ({ file, found: versions.get(file) ?? [] }))
    .filter(({ found }) => found.length !== SECTIONS || new Set(found).size !== 1)
    .map(({ file, found }) => `${file} has passages of ${found.join(', ') || 'no version'}`)
  const anew = [...versions.values()].filter((found) => found[0] === `version${round}`).length
  return { old: versions.size - anew, anew, wrong }
}

/** The last server finds every document as it is, and none as it was. */
async function allFound(url: string, round: number): Promise<void> {
  const total = async (version: number) =>
    (await searchOverHttp(url, KEY, { query: `version${version}`, mode: 'all' }))?.total
  while ((await total(round)) !== DOCUMENTS * SECTIONS || (await total(round - 1)) !== 0);
}
