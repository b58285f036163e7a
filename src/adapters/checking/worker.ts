/** The thread that checks values against schemas of servers and runs patterns of models. It is ended when a check takes too long. */
import { parentPort } from 'node:worker_threads'
import { reasonOf } from '../../errors/parley-error.ts'
import { answerCalls, sendEvent } from '../../threads/worker-port.ts'
import type { CheckCalls, LinesJob, FoundLine, SchemaAnswer, SchemaJob } from './messages.ts'
import { compileSchema, type CompiledSchema } from './schema.ts'

/** A longer line is searched up to here. */
const MAX_LINE_CHARS = 20_000
/** Characters of a line in the result. */
const MAX_SHOWN_CHARS = 300

const compiled = new Map<number, CompiledSchema>()

if (parentPort !== null) {
  answerCalls<CheckCalls>(parentPort, { schema: checked, lines: linesIn })
  sendEvent(parentPort, 'ready')
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
  // A line break at the end of a text starts no further line.
  const last = lines.at(-1) === '' ? lines.length - 1 : lines.length
  for (let index = 0; index < last && matches.size < most; index += 1) {
    const at = (lines[index] ?? '').slice(0, MAX_LINE_CHARS).search(pattern)
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
  if (line.length <= MAX_SHOWN_CHARS) return line
  const start = Math.max(0, Math.min(at - MAX_SHOWN_CHARS / 3, line.length - MAX_SHOWN_CHARS))
  return `${start > 0 ? '…' : ''}${line.slice(start, start + MAX_SHOWN_CHARS)}${start + MAX_SHOWN_CHARS < line.length ? '…' : ''}`
}
