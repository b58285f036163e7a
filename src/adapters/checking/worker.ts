/** The thread that checks values against foreign schemas and runs foreign patterns: it alone is lost when one takes for ever. */
import { parentPort } from 'node:worker_threads'
import { reasonOf } from '../../errors/parley-error.ts'
import type { LinesJob, FoundLine, Posted, SchemaAnswer, SchemaJob } from './messages.ts'
import { compileSchema, type CompiledSchema } from './schema.ts'

/** A longer line is looked at up to here. Characters. */
const LONGEST_LINE = 20_000
/** Characters of a line that are shown. */
const SHOWN = 300

const compiled = new Map<number, CompiledSchema>()

parentPort?.on('message', (job: SchemaJob | LinesJob) => {
  post(job.kind === 'schema' ? checked(job) : linesIn(job))
})
post('ready')

function post(posted: Posted): void {
  parentPort?.postMessage(posted)
}

function checked({ key, schema, value }: SchemaJob): SchemaAnswer {
  const known = compiled.get(key) ?? compileSchema(schema ?? {})
  compiled.set(key, known)
  try {
    return { wrong: known.check(value), fault: known.fault }
  } catch (error) {
    const fault = error instanceof RangeError ? 'it refers to itself without end' : reasonOf(error)
    return { wrong: undefined, fault }
  }
}

function linesIn({ source, flags, text, most, around }: LinesJob): readonly FoundLine[] {
  const pattern = new RegExp(source, flags)
  const lines = text.split(/\r\n|\n/u)
  const matches = new Map<number, number>()
  // An end of line at the end of a text begins no other line.
  const last = lines.at(-1) === '' ? lines.length - 1 : lines.length
  for (let index = 0; index < last && matches.size < most; index += 1) {
    const at = (lines[index] ?? '').slice(0, LONGEST_LINE).search(pattern)
    if (at >= 0) matches.set(index, at)
  }
  const near = [...matches.keys()].flatMap((index) =>
    Array.from({ length: 2 * around + 1 }, (_, n) => index - around + n),
  )
  const wanted = [...new Set(near)].filter((index) => index >= 0 && index < last).toSorted((a, b) => a - b)
  return wanted.map((index) => {
    const at = matches.get(index)
    return { line: index + 1, isMatch: at !== undefined, text: part(lines[index] ?? '', at ?? 0) }
  })
}

function part(line: string, at: number): string {
  if (line.length <= SHOWN) return line
  const start = Math.max(0, Math.min(at - SHOWN / 3, line.length - SHOWN))
  return `${start > 0 ? '…' : ''}${line.slice(start, start + SHOWN)}${start + SHOWN < line.length ? '…' : ''}`
}
