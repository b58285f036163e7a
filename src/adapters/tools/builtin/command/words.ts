/** A line of the shell taken apart as far as is needed to know what it starts. What only the shell will know has a `$` in it. */
import { type Reader, matchAt, readWord, skipBlanks } from './word.ts'

export interface SimpleCommand {
  /** Without quotes; `$()` is what another command says. */
  readonly words: readonly string[]
  /** Files that it writes from their beginning. */
  readonly truncates: readonly string[]
  /** What it is sent by the line itself: a here-document, a here-string. */
  readonly sent?: string
}

/** Everything that the line runs, also within other commands; undefined when that is nested deeper than anybody writes. */
export function parseLine(line: string): readonly SimpleCommand[] | undefined {
  const commands: Building[] = []
  const isWhole = readLine(line, commands, 0)
  return isWhole ? commands : undefined
}

interface Building {
  words: string[]
  truncates: string[]
  sent?: string
}

interface Document {
  readonly of: Building
  readonly end: string
  readonly isIndented: boolean
  /** The shell replaces nothing in it. */
  readonly isQuoted: boolean
}

interface Commands extends Reader {
  readonly found: Building[]
  /** Announced; they begin with the next line. */
  documents: Document[]
}

const DEEPEST = 40
const OPERATOR = /&>>|<<<|<<-|\|\||&&|;;|\|&|&>|>>|>\||>&|<&|<>|<<|[;|&<>()\n]/uy
const REDIRECTS = new Set(['>', '>>', '>|', '<', '<<', '<<<', '<<-', '<>', '&>', '&>>', '>&', '<&'])
const CASES: ReadonlyMap<string, number> = new Map([
  ['case', 1],
  ['esac', -1],
])
const TRUNCATING = new Set(['>', '>|', '&>', '>&'])

/** False when it is too deep. */
function readLine(line: string, found: Building[], depth: number): boolean {
  let isWhole = true
  const deeper = (text: string) => {
    isWhole &&= depth < DEEPEST && readLine(text, found, depth + 1)
  }
  const reader: Commands = {
    line,
    at: 0,
    found,
    documents: [],
    within: deeper,
    upToBracket() {
      if (depth >= DEEPEST) isWhole = false
      else depth += 1
      if (isWhole) readCommands(reader, true)
      else reader.at = line.length
      depth -= 1
    },
  }
  readCommands(reader, false)
  return isWhole
}

/** As far as the `)` that ends them, when they stand in brackets. */
function readCommands(reader: Commands, isInBrackets: boolean): void {
  let command = begin(reader)
  let open = 0
  let cases = 0
  while (reader.at < reader.line.length) {
    skipBlanks(reader)
    const operator = matchAt(OPERATOR, reader)
    if (operator === '' || /^[<>]\($/u.test(reader.line.slice(reader.at, reader.at + 2))) {
      const start = reader.at
      const { text } = readWord(reader)
      if (text !== undefined) command.words.push(text)
      // A character that neither ends a word nor begins one would be read again and again.
      if (reader.at === start) reader.at += 1
      continue
    }
    reader.at += operator.length
    if (REDIRECTS.has(operator)) {
      redirect(operator, command, reader)
      continue
    }
    if (operator === '\n') readDocuments(reader)
    cases += CASES.get(command.words[0] ?? '') ?? 0
    // That of a pattern ends no commands.
    if (operator === ')' && isInBrackets && open === 0 && cases <= 0) return
    if (operator === '(') open += 1
    if (operator === ')' && open > 0) open -= 1
    command = begin(reader)
  }
}

function begin({ found }: Commands): Building {
  const command: Building = { words: [], truncates: [] }
  found.push(command)
  return command
}

function redirect(operator: string, command: Building, reader: Commands): void {
  // Between `[[` and `]]` it compares.
  if (command.words[0] === '[[') return
  skipBlanks(reader)
  const { text = '', isQuoted } = readWord(reader)
  if (TRUNCATING.has(operator)) command.truncates.push(text)
  if (operator === '<<<') command.sent = text
  if (operator === '<<' || operator === '<<-')
    reader.documents.push({ of: command, end: text, isIndented: operator === '<<-', isQuoted })
}

function readDocuments(reader: Commands): void {
  const announced = reader.documents
  reader.documents = []
  for (const { of: command, end, isIndented, isQuoted } of announced) {
    const rest = reader.line.slice(reader.at).split('\n')
    const last = rest.findIndex((line) => (isIndented ? line.replace(/^\t+/u, '') : line) === end)
    const body = (last < 0 ? rest : rest.slice(0, last)).join('\n')
    reader.at += body.length + (last < 0 ? 0 : (rest[last]?.length ?? 0) + 1)
    command.sent = body
    // What stands in a text in `"` is replaced, and so it is here.
    if (!isQuoted) reader.within(`: "${body.replaceAll(/(?<!\\)"/gu, '\\"')}"`)
  }
}
