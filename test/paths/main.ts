/** `npm run paths [-- --counts]`: the files that four requests pass on the real thing, in order, with the number that a reader can follow. */
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { buildInstrumented } from './instrument.ts'
import { Stage } from './stage.ts'
import { type Way, type Window, ambient, ways } from './ways.ts'

const lists = !process.argv.includes('--counts')
const bin = await buildInstrumented()
let isWithin = true
try {
  for (const way of ways) isWithin = report(way, await filesOf(way)) && isWithin
} finally {
  rmSync(dirname(dirname(bin)), { recursive: true, force: true })
}
process.exitCode = isWithin ? 0 : 1

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
  return stage
    .visits()
    .filter(({ at, file }) => at >= from && at <= to && !ambient.some((path) => file.startsWith(path)))
    .map(({ file }) => file)
}

function report({ name, limit }: Way, files: readonly string[]): boolean {
  const verdict = files.length <= limit ? 'within' : 'more than'
  console.log(`\n${name}: ${files.length} files, ${verdict} ${limit}`)
  if (lists) for (const [index, file] of files.entries()) console.log(`${String(index + 1).padStart(4)}  ${file}`)
  return files.length <= limit
}
