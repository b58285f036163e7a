/** One word of a line of the shell: quotes, and what is replaced. */

/** A place in a line. */
export interface Reader {
  readonly line: string
  at: number
  /** Looks at a line that stands in the line. */
  readonly within: (line: string) => void
  /** Looks at the commands that follow, and takes them with the `)` that ends them. */
  readonly upToBracket: () => void
}

export interface Word {
  /** Undefined where no word stands. */
  readonly text?: string
  readonly isQuoted: boolean
}

/** The blanks of the shell and its operators. A blank that only Unicode knows is a letter to the shell. */
const END = /[ \t\r\n;|&<>()]/u
/** What stands in place of what a command says. */
const SAID = '$()'

/** Blanks, a comment, and the number of the stream that is sent elsewhere. */
export function skipBlanks(reader: Reader): void {
  const isAfter = reader.at === 0 || END.test(reader.line.charAt(reader.at - 1))
  const blanks = matchAt(/(?:[ \t\r]|\\\n)*/uy, reader)
  reader.at += blanks.length
  if (!isAfter && blanks === '') return
  reader.at += matchAt(/#[^\n]*/uy, reader).length
  reader.at += matchAt(/(?:\d+|\{\w+\})(?=[<>])/uy, reader).length
}

export function matchAt(pattern: RegExp, { line, at }: Pick<Reader, 'line' | 'at'>): string {
  pattern.lastIndex = at
  return pattern.exec(line)?.[0] ?? ''
}

export function readWord(reader: Reader): Word {
  const start = reader.at
  let text = ''
  let isQuoted = false
  while (reader.at < reader.line.length) {
    const isCommand = /^[<>]\($/u.test(reader.line.slice(reader.at, reader.at + 2))
    const first = reader.line.charAt(reader.at)
    if (END.test(first) && !isCommand) break
    isQuoted ||= '\'"\\'.includes(first)
    text += isCommand ? readSaid(2, reader) : readPiece(first, reader)
  }
  // Whoever asks for a word where none can be moves on.
  return reader.at === start ? { isQuoted } : { text, isQuoted }
}

function readPiece(first: string, reader: Reader): string {
  if (first === "'")
    return take(/'[^']*'?/uy, reader)
      .slice(1)
      .replace(/'$/u, '')
  if (first === '"') return readDoubleQuoted(reader)
  if (first === '\\')
    return take(/\\[\s\S]?/uy, reader)
      .slice(1)
      .replace('\n', '')
  return readReplaced(first, reader) ?? take(/[\s\S]/uy, reader)
}

function readDoubleQuoted(reader: Reader): string {
  reader.at += 1
  let text = ''
  while (reader.at < reader.line.length) {
    const first = reader.line.charAt(reader.at)
    if (first === '"') break
    if (first === '\\') text += take(/\\[\s\S]?/uy, reader).replace(/^\\(?=["\\$`\n])/u, '')
    else text += readReplaced(first, reader) ?? take(/[^"\\$`]+|[\s\S]/uy, reader)
  }
  reader.at += 1
  return text
}

/** Undefined when nothing is replaced. */
function readReplaced(first: string, reader: Reader): string | undefined {
  if (first === '`') return readBackticks(reader)
  if (first !== '$') return undefined
  // Letters by their number, too: nobody hides what is harmless.
  const letters = matchAt(/\$'(?:[^'\\]|\\[\s\S])*'?/uy, reader)
  if (letters !== '') {
    reader.at += letters.length
    return letters.includes('\\') ? '$' : letters.slice(2).replace(/'$/u, '')
  }
  const sum = matchAt(/\$\(\([^;\n`'"]*?\)\)/uy, reader)
  if (sum !== '' && !sum.includes('$(', 2)) {
    reader.at += sum.length
    return '$'
  }
  if (reader.line.startsWith('$(', reader.at)) return readSaid(2, reader)
  if (reader.line.startsWith('${', reader.at)) return readBraces(reader)
  return reader.line.startsWith('$"', reader.at) ? take(/\$/uy, reader).slice(1) : take(/\$\w*/uy, reader)
}

function readSaid(opening: number, reader: Reader): string {
  reader.at += opening
  reader.upToBracket()
  return SAID
}

function readBackticks(reader: Reader): string {
  const whole = take(/`(?:[^`\\]|\\[\s\S])*`?/uy, reader)
  reader.within(
    whole
      .slice(1)
      .replace(/`$/u, '')
      .replaceAll(/\\([`\\$])/gu, '$1'),
  )
  return SAID
}

function readBraces(reader: Reader): string {
  const inner = take(/\$\{(?:[^{}\\]|\\[\s\S]|\{[^{}]*\})*\}?/uy, reader)
  if (/\$\(|`/u.test(inner)) reader.within(`: "${inner.slice(2, -1).replaceAll('"', '')}"`)
  return '${}'
}

function take(pattern: RegExp, reader: Reader): string {
  const whole = matchAt(pattern, reader) || reader.line.charAt(reader.at)
  reader.at += whole.length
  return whole
}
