/** Reads an exported session. Each line is checked before it counts as an entry, and the first invalid one is named. */
import { z } from 'zod'
import { fail } from '../../errors/parley-error.ts'
import { ENTRY_FORMAT, type Entry } from '../../session/domain/entries.ts'
import { isNestedDeeper } from '../../text/nesting.ts'
import { EXPORT_FORMAT } from '../../session/lifecycle/export-session.ts'
import { type FileLine, linesOfFile } from './lines.ts'
import { shapes, time } from './shapes.ts'

/** The most that one append to the journal holds. */
const APPEND_LIMIT = { entries: 1_000, chars: 512 * 1024 }
/** Stored values are written and read again by recursion, so their depth is limited. */
const DEEPEST = 200

export interface ExportedSession {
  readonly id: string
  readonly count: number
  readonly pieces: AsyncIterable<readonly Entry[]>
}

const head = z.looseObject({
  parley: z.literal('session'),
  format: z.int().min(1),
  entryFormat: z.int().min(1),
  session: z.looseObject({ id: z.string().regex(/^[\w.:-]{1,200}$/u), lastSeq: z.int().min(1) }),
})

/** `path` is what errors call the file. Throws IMPORT_UNREADABLE, IMPORT_TOO_NEW and IMPORT_INVALID; the pieces throw the last of these too. */
export async function readExport(file: string, path = file): Promise<ExportedSession> {
  const lines = linesOfFile(file)
  const first = await lines.next()
  if (first.done === true) return fail('IMPORT_INVALID', { path, line: 1, reason: 'the file is empty' })
  const value = parseLine(path, first.value)
  requireKnown(path, value)
  const found = head.safeParse(value)
  if (!found.success)
    return failLine(path, 1, `it is not the first line of an exported session (${issueOf(found.error)})`)
  const { id, lastSeq: count } = found.data.session
  return { id, count, pieces: piecesOf(path, lines, count) }
}

/** A newer format is reported as such, whatever else the line holds. */
function requireKnown(path: string, value: unknown): void {
  const { parley, format, entryFormat } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (parley !== 'session') return
  if (typeof format === 'number' && format > EXPORT_FORMAT)
    fail('IMPORT_TOO_NEW', { path, found: format, known: EXPORT_FORMAT })
  if (typeof entryFormat === 'number' && entryFormat > ENTRY_FORMAT)
    fail('IMPORT_TOO_NEW', { path, found: entryFormat, known: ENTRY_FORMAT })
}

async function* piecesOf(
  path: string,
  lines: AsyncIterable<FileLine>,
  count: number,
): AsyncGenerator<readonly Entry[]> {
  let piece: Entry[] = []
  let chars = 0
  let seq = 0
  let number = 1
  for await (const line of lines) {
    number = line.number
    piece.push(entryOf(path, line, seq + 1))
    seq += 1
    chars += line.text.length
    if (seq > count) failLine(path, number, `the first line says that there are ${count} entries, and this is another`)
    if (piece.length < APPEND_LIMIT.entries && chars < APPEND_LIMIT.chars) continue
    yield piece
    piece = []
    chars = 0
  }
  if (seq < count) failLine(path, number, `the file ends here with entry ${seq} of ${count}`)
  if (piece.length > 0) yield piece
}

function entryOf(path: string, line: FileLine, expected: number): Entry {
  const value = parseLine(path, line)
  const refused = (reason: string): never => failLine(path, line.number, reason)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused('it is not an entry')
  const { seq, at, kind } = value as Readonly<Record<string, unknown>>
  if (seq !== expected) return refused(`seq must be ${expected}`)
  if (!time.safeParse(at).success) return refused('at must be a time in milliseconds since 1970')
  if (typeof kind !== 'string' || !Object.hasOwn(shapes, kind))
    return refused('this Parley knows no such kind of entry')
  if ((kind === 'session_created') !== (expected === 1))
    return refused('a session begins with session_created, which comes only there')
  const shape = shapes[kind as keyof typeof shapes].safeParse(value)
  if (!shape.success) return refused(`this is no ${kind}: ${issueOf(shape.error)}`)
  return value as Entry
}

function parseLine(path: string, { number, text }: FileLine): unknown {
  if (text.trim() === '') return failLine(path, number, 'it is empty')
  try {
    const value: unknown = JSON.parse(text)
    if (!isNestedDeeper(value, DEEPEST)) return value
  } catch {
    // The parser's message quotes the line, which may hold a secret.
    return failLine(path, number, 'it is not JSON')
  }
  return failLine(path, number, 'it is nested too deeply')
}

function failLine(path: string, line: number, reason: string): never {
  return fail('IMPORT_INVALID', { path, line, reason })
}

/** Where and what, never the value. */
function issueOf({ issues }: z.ZodError): string {
  const [issue] = issues
  if (issue === undefined) return 'it does not parse'
  const what = issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
  return issue.path.length === 0 ? what : `${issue.path.join('.')}: ${what}`
}
