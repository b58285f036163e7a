/** One line of the log as a person reads it. */

/** A line of JSON as pino writes it, in words; any other line, such as the last words of a crash, as it is. */
export function readableLine(line: string): string {
  const told = parse(line)
  if (told === undefined) return line
  const at = typeof told['time'] === 'number' ? `${new Date(told['time']).toISOString()} ` : ''
  return `${at}${level(told['level'])}${sentenceOf(told)}`
}

/** What it says, without when and how grave. */
export function sentenceOf(told: Readonly<Record<string, unknown>>): string {
  const { msg, err } = told
  const failed = typeof err === 'object' && err !== null && 'message' in err ? String(err.message) : undefined
  return [msg, failed].filter((part, index, all) => typeof part === 'string' && all.indexOf(part) === index).join(': ')
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
