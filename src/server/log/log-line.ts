/** The place of the log, and one line of it for users. */
import { join } from 'node:path'

export function logPathIn(home: string): string {
  return join(home, 'parley.log')
}

/** A line of JSON as pino writes it, in words; any other line, such as the last words of a crash, as it is. */
export function readableLine(line: string): string {
  const record = parse(line)
  if (record === undefined) return line
  const at = typeof record['time'] === 'number' ? `${new Date(record['time']).toISOString()} ` : ''
  return `${at}${level(record['level'])}${logSentence(record)}`
}

/** The sentence of a record, without its time and its level. */
export function logSentence(record: Readonly<Record<string, unknown>>): string {
  const { msg, err } = record
  const failed = typeof err === 'object' && err !== null && 'message' in err ? String(err.message) : undefined
  const said = [msg, failed].filter((part, index, all) => typeof part === 'string' && all.indexOf(part) === index)
  return said.join(': ') + detailsOf(record)
}

const NO_DETAILS: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err'])

function detailsOf(record: Readonly<Record<string, unknown>>): string {
  const details = Object.entries(record)
    .filter(([name]) => !NO_DETAILS.has(name))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return details.length === 0 ? '' : ` (${details.join(', ')})`
}

export function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>
  } catch {
    // A line that was cut by a full disk or a crash.
    return undefined
  }
}

function level(value: unknown): string {
  if (typeof value !== 'number' || value < 40) return ''
  return value < 50 ? 'warning: ' : 'error: '
}
