/** The thread that checks values against foreign schemas and runs foreign patterns: it alone is lost when one takes for ever. */
import { parentPort } from 'node:worker_threads'
import { reasonOf } from '../../../errors/parley-error.ts'
import type { LinesJob, MatchingLine, Posted, SchemaAnswer, SchemaJob } from './messages.ts'
import { compileSchema, type CompiledSchema } from './schema.ts'

/** A longer line is looked at up to here. Characters. */
const LONGEST_LINE = 20_000

const compiled = new Map<number, CompiledSchema>()

parentPort?.on('message', (job: SchemaJob | LinesJob) => {
  post(job.kind === 'schema' ? checked(job) : matchesIn(job))
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

function matchesIn({ source, flags, text, most }: LinesJob): readonly MatchingLine[] {
  const pattern = new RegExp(source, flags)
  const found: MatchingLine[] = []
  for (const [index, line] of text.split(/\r\n|\n/u).entries()) {
    const at = line.slice(0, LONGEST_LINE).search(pattern)
    if (at >= 0) found.push({ line: index + 1, at })
    if (found.length === most) break
  }
  return found
}
