/** A command line taken apart by a shell parser: every simple command in it, wherever it stands. */
import {
  type Assignment,
  type Command,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
  forEachChild,
  parse,
} from 'unbash'

export interface SimpleCommand {
  /** The program and its arguments without quotes. What only the shell will know has a `$` in it; `$()` is what a command prints. */
  readonly words: readonly string[]
  /** Variables set for this command, or for those that follow where no program is named. */
  readonly assignments: readonly string[]
  /** Files that it writes from their beginning, or in their middle. */
  readonly overwrites: readonly string[]
  readonly appends: readonly string[]
  /** What it is sent by the line itself: a here-document, a here-string. */
  readonly sent?: string
}

export interface ParsedLine {
  readonly commands: readonly SimpleCommand[]
  /** Every word, also of redirections and loops, with what stands for something else marked as in `UNKNOWN`. */
  readonly shapes: readonly string[]
}

/** What stands in a shape for letters that only the shell will know: private characters, which no path has. */
export const UNKNOWN = {
  /** Any letters of one name: `*`. */
  name: '\uE000',
  /** Any letters at all: `$X`. */
  text: '\uE001',
  home: '\uE002',
  here: '\uE003',
} as const

/** Substitutions within substitutions that are looked at. */
const DEEPEST = 40
/** Parts of a line that are looked at. */
const MOST_NODES = 6_000

/**
 * Everything that the line runs, also within other commands. Undefined when it cannot be read, is nested deeper than anybody
 * writes, or when another shell would read it differently.
 */
export function parseLine(line: string): ParsedLine | undefined {
  const reader = new LineReader()
  // The parser gives up on what is nested very deeply by running out of stack.
  const isRead = reader.read(line, { isStrict: true }, 0)
  return isRead && !reader.isUnreadable ? reader : undefined
}

interface Manner {
  /** Whether a syntax error makes the line unreadable. */
  readonly isStrict: boolean
}

class LineReader implements ParsedLine {
  readonly commands: SimpleCommand[] = []
  readonly shapes: string[] = []
  isUnreadable = false
  #nodes = 0

  read(line: string, manner: Manner, depth: number): boolean {
    try {
      this.#visit(parse(line), { ...manner, source: line, depth })
      return true
    } catch {
      return false
    }
  }

  #visit(node: SyntaxNode, around: Around): void {
    this.#nodes += 1
    if (this.#nodes > MOST_NODES || around.depth > DEEPEST) this.isUnreadable = true
    if (this.isUnreadable) return
    const within = this.#take(node, around)
    forEachChild(node, (child) => this.#visit(child, within))
  }

  #take(node: SyntaxNode, around: Around): Around {
    switch (node.type) {
      case 'Script':
        if (around.isStrict && 'errors' in node && node.errors !== undefined && node.errors.length > 0)
          this.isUnreadable = true
        return { ...around, source: node.source ?? around.source, depth: around.depth + 1 }
      case 'Word':
      case 'Assignment':
        this.shapes.push(shapeOf(node))
        return around
      case 'Command':
        this.commands.push(commandOf(node))
        return around
      case 'Redirected':
        this.commands.push(commandWith({ words: [], assignments: [] }, node.redirects))
        return around
      case 'TestCommand':
      case 'ArithmeticCommand':
        this.#readAsOthersDo(around.source.slice(node.pos, node.end), around)
        return around
      case 'AnsiCQuoted':
        // A shell without such quotes ends them at the first `'`.
        if (node.text.includes("\\'")) this.isUnreadable = true
        return around
      case 'ArithmeticExpansion':
        if (node.text.startsWith('$[')) this.isUnreadable = true
        return around
      default:
        return around
    }
  }

  /** A shell that knows neither `[[` nor `((` takes the first for a program and the second for two brackets. */
  #readAsOthersDo(text: string, { depth }: Around): void {
    const inner = text.startsWith('((') ? `( ${text.slice(1, -1)} )` : `: ${text.slice(2, -2)}`
    if (!this.read(inner, { isStrict: false }, depth + 1)) this.isUnreadable = true
  }
}

interface Around extends Manner {
  /** What positions are counted in. */
  readonly source: string
  readonly depth: number
}

function commandOf({ name, prefix, args, redirects }: Command): SimpleCommand {
  const assignments = prefix.flatMap((one) => (one.type === 'Assignment' ? [one] : []))
  const words = [...(name === undefined ? [] : [name]), ...args]
  return commandWith({ words, assignments }, redirects)
}

interface Parts {
  readonly words: readonly (Word | Assignment)[]
  readonly assignments: readonly Assignment[]
}

const OVERWRITING: ReadonlySet<string> = new Set(['>', '>|', '&>', '>&', '<>'])
const APPENDING: ReadonlySet<string> = new Set(['>>', '&>>'])

function commandWith({ words, assignments }: Parts, redirects: readonly Redirection[]): SimpleCommand {
  const targets = (operators: ReadonlySet<string>) =>
    redirects.flatMap((one) => (operators.has(one.operator) && 'target' in one ? [textOfTarget(one.target)] : []))
  const sent = redirects.flatMap((one) =>
    one.type === 'HereDoc' ? [one.body.text] : one.type === 'HereString' ? [textOfTarget(one.target)] : [],
  )
  const [last] = sent.slice(-1)
  return {
    words: words.map(textOf),
    assignments: assignments.map(textOf),
    overwrites: targets(OVERWRITING),
    appends: targets(APPENDING),
    ...(last !== undefined && { sent: last }),
  }
}

/** Writing to a descriptor that is open already names no file. */
function textOfTarget(target: Word | undefined): string {
  return target === undefined ? '' : textOf(target)
}

function textOf(word: Word | Assignment): string {
  if (word.type === 'Word') return partsOf(word, TEXT)
  return `${word.text.slice(0, word.text.indexOf('=') + 1)}${valueOf(word, TEXT)}`
}

function shapeOf(word: Word | Assignment): string {
  if (word.type === 'Assignment') return `${word.name}=${valueOf(word, SHAPE)}`
  return partsOf(word, SHAPE)
}

function valueOf({ value }: Assignment, style: Style): string {
  if (value.type === 'Word') return partsOf(value, style)
  return value.elements.map((element) => partsOf(element, style)).join(' ')
}

function partsOf(word: Word, style: Style): string {
  const text = word.parts === undefined ? word.value : word.parts.map((part) => partOf(part, style)).join('')
  // Only a `~` outside of quotes is the home directory.
  return style === SHAPE && /^~(?=\/|$)/u.test(word.text) ? `${UNKNOWN.home}${text.slice(1)}` : text
}

/** How what only the shell will know is written. */
interface Style {
  variable(text: string): string
  said: string
  sum: string
  glob(text: string): string
  braces(text: string): string
}

const TEXT: Style = {
  variable: (text) => (text.startsWith('${') ? '${}' : text),
  said: '$()',
  sum: '$',
  glob: (text) => text,
  braces: (text) => text,
}

const SHAPE: Style = {
  variable: (text) => {
    const name = text.replace(/^\$\{?|\}$/gu, '')
    return name === 'HOME' ? UNKNOWN.home : name === 'PWD' ? UNKNOWN.here : UNKNOWN.text
  },
  said: UNKNOWN.text,
  sum: UNKNOWN.text,
  glob: () => UNKNOWN.name,
  braces: (text) => (text.includes('/') ? UNKNOWN.text : UNKNOWN.name),
}

function partOf(part: WordPart, style: Style): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return part.value
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((one) => partOf(one, style)).join('')
    case 'AnsiCQuoted':
      // Letters by their number: nobody hides what is harmless.
      return style === TEXT && part.text.includes('\\') ? '$' : part.value
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return style.variable(part.text)
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return style.said
    case 'ArithmeticExpansion':
      return style.sum
    case 'Glob':
    case 'ExtendedGlob':
      return style.glob(part.text)
    case 'BraceExpansion':
      return style.braces(part.text)
  }
}
