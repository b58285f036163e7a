/** `npm run bench -- docs`: how fast documents are indexed and found, at what cost, beside ripgrep and a plain FTS5 table. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setup as build } from '../../test/build.setup.ts'
import { mebibytes, ms, quantile } from '../row.ts'
import { type Corpus, writeCorpus } from './corpus.ts'
import { plainIndex, ripgrep } from './others.ts'
import { type Question, questions } from './questions.ts'
import { indexFolder, Served } from './served.ts'

const USAGE = `npm run bench -- docs [--documents N,…] [--rounds N] [--home DIR]
  --documents  the sizes to measure (10000,100000)
  --rounds     how often each kind of question is asked, with other words each time (30)
  --keep DIR   where documents and index are made, and stay; a second run goes on with them
It never fails because something is slow.`

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '10000,100000' },
    rounds: { type: 'string', default: '30' },
    keep: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.help) return console.log(USAGE)
  await build()
  for (const documents of values.documents.split(',').map(Number)) {
    const place = values.keep === undefined ? await mkdtemp(join(tmpdir(), 'parley-bench-docs-')) : values.keep
    const directory = join(place, `documents-${documents}`)
    try {
      await measure(await corpusIn(directory, documents), join(place, `home-${documents}`))
    } finally {
      if (values.keep === undefined) await rm(place, { recursive: true, force: true, maxRetries: 3 })
    }
  }
}

async function corpusIn(directory: string, documents: number): Promise<Corpus> {
  const there = await readdir(directory).catch(() => [])
  return there.length > 0 ? { directory, documents, bytes: 0 } : writeCorpus(directory, documents)
}

async function measure(corpus: Corpus, home: string): Promise<void> {
  const { directory, documents, bytes } = corpus
  console.log(`\n${documents.toLocaleString('en')} documents, ${mebibytes(bytes)} of text\n`)
  const asked = questions(Number(values.rounds))
  const server = await Served.start(directory, home)
  try {
    await indexing(server, corpus, home)
    await answering(asked, (question) => server.search(question))
    say('memory after the searches', mebibytes(server.memory.now))
  } finally {
    await server.stop()
  }
  await others(corpus, { home, asked })
}

/** Asks all the time while the index is made: how long an answer takes then, and when the first whole one comes. */
async function indexing(server: Served, { documents, bytes }: Corpus, home: string): Promise<void> {
  const began = performance.now()
  const waits: number[] = []
  for (;;) {
    const asked = performance.now()
    const { notice } = await server.search({ query: 'session', mode: 'all' })
    waits.push(performance.now() - asked)
    if (notice === undefined) break
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const seconds = (performance.now() - began) / 1_000
  say(
    'indexed',
    `${Math.round(documents / seconds)} documents/s, ${(bytes / 1e6 / seconds).toFixed(1)} MB/s, ${seconds.toFixed(0)} s`,
  )
  say('first answer', `after ${((waits[0] ?? 0) / 1_000).toFixed(1)} s`)
  if (waits.length > 2) say('answers meanwhile, p95', ms(quantile(waits.slice(1), 0.95)))
  say('memory at the most, while indexing', mebibytes(server.memory.most))
  say('index on disk', await sizeOf(indexFolder(home), bytes))
}

async function sizeOf(folder: string, bytes: number): Promise<string> {
  let size = 0
  for (const file of await readdir(folder)) size += (await stat(join(folder, file))).size
  return `${mebibytes(size)} (${(size / bytes).toFixed(2)} × the text)`
}

async function answering(asked: readonly Question[], search: (question: Question) => Promise<unknown>): Promise<void> {
  const took = new Map<string, number[]>()
  for (const question of asked) {
    const began = performance.now()
    await search(question)
    took.set(question.kind, [...(took.get(question.kind) ?? []), performance.now() - began])
  }
  for (const [kind, times] of took) say(`  ${kind}`, p50p95(times))
  say('all of them', p50p95([...took.values()].flat()))
}

async function others(
  { directory, documents, bytes }: Corpus,
  { home, asked }: { home: string; asked: readonly Question[] },
): Promise<void> {
  const file = join(home, 'plain.sqlite')
  await rm(file, { force: true })
  const plain = plainIndex(directory, { documents, file })
  say('plain FTS5: indexed', `${Math.round(documents / plain.seconds)} documents/s`)
  say('plain FTS5: on disk', `${mebibytes(plain.bytes)} (${(plain.bytes / bytes).toFixed(2)} × the text)`)
  say('plain FTS5: all of them', p50p95(asked.map(({ query }) => plain.latency(query))))
  plain.close()
  const grep = ripgrep(directory)
  if (grep === undefined) say('ripgrep', 'not there; get it with `apt-get install ripgrep`')
  else say('ripgrep, one word', p50p95(asked.slice(0, 20).map(grep)))
}

function p50p95(times: readonly number[]): string {
  return `p50 ${ms(quantile(times, 0.5))}, p95 ${ms(quantile(times, 0.95))}`
}

function say(what: string, measured: string): void {
  console.log(`${what.padEnd(40)} | ${measured}`)
}

await main()
