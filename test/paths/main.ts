/**
 * `npm run paths`: the files that four requests pass on the real thing, in order, with the number that a reader can follow.
 * `-- --counts` prints the numbers only; `-- --write` puts the lists into ARCHITECTURE.md.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import { buildInstrumented } from './instrument.ts'
import { Stage } from './stage.ts'
import { type Way, type Window, ambient, indexer, ways } from './ways.ts'

const BEGIN = '<!-- Written by `npm run paths -- --write`: -->'
const END = '<!-- the end of what it writes -->'

const lists = !process.argv.includes('--counts')
const writes = process.argv.includes('--write')
const bin = await buildInstrumented()
const traced: (readonly [Way, readonly string[]])[] = []
try {
  for (const way of ways) {
    const files = await filesOf(way)
    report(way, files)
    traced.push([way, files])
  }
} finally {
  rmSync(dirname(dirname(bin)), { recursive: true, force: true })
}
if (writes) writePage(new URL('../../ARCHITECTURE.md', import.meta.url))
process.exitCode = traced.every(([{ limit }, files]) => files.length <= limit) ? 0 : 1

/** The files of a way, each once, in the order of its first call. */
async function filesOf(way: Way): Promise<readonly string[]> {
  const stage = new Stage(bin, way)
  try {
    const window = await way.walk(stage)
    return [...new Set(within(stage, window))]
  } finally {
    await stage.close()
  }
}

function within(stage: Stage, { from, to }: Window): readonly string[] {
  const visits = stage.visits()
  const indexing = new Set(visits.filter(({ file }) => file.startsWith(indexer)).map(({ thread }) => thread))
  return visits
    .filter(({ at }) => at >= from && at <= to)
    .filter(({ thread }) => thread.endsWith('/0') || !indexing.has(thread))
    .filter(({ file }) => ![...ambient, indexer].some((path) => file.startsWith(path)))
    .map(({ file }) => file)
}

function report({ name, limit }: Way, files: readonly string[]): void {
  const verdict = files.length <= limit ? 'within' : 'more than'
  console.log(`\n${name}: ${files.length} files, ${verdict} ${limit}`)
  if (lists) for (const [index, file] of files.entries()) console.log(`${String(index + 1).padStart(4)}  ${file}`)
}

/** Replaces what stands between the two marks. */
function writePage(page: URL): void {
  const text = readFileSync(page, 'utf8')
  const [before = '', rest = ''] = text.split(BEGIN)
  const [, after = ''] = rest.split(END)
  const ways = traced.map(
    ([{ name, limit }, files]) =>
      `${wrapped(`**${sentence(name)}**: ${files.length} files (at most ${limit}).`)}\n\n${shortened(files)}\n`,
  )
  writeFileSync(page, `${before}${BEGIN}\n\n${ways.join('\n')}\n${END}${after}`)
}

function sentence(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
}

/** One line for each stay in a folder: `relay/: relay, connector`. */
function shortened(files: readonly string[]): string {
  const stays: { readonly folder: string; readonly names: string[] }[] = []
  for (const file of files) {
    const folder = posix.dirname(file).replace(/^src\//u, '')
    const name = posix.basename(file, '.ts')
    const last = stays.at(-1)
    if (last?.folder === folder) last.names.push(name)
    else stays.push({ folder, names: [name] })
  }
  return stays
    .map(({ folder, names }, index) => wrapped(`${index + 1}. \`${folder}/\` ${names.join(', ')}`, '   '))
    .join('\n')
}

/** In lines of at most 100 columns, as every page has them. */
function wrapped(text: string, indent = ''): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + 1 + word.length > 100) lines.push(`${indent}${word}`)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join('\n')
}
