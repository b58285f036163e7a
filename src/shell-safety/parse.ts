/** Parses a command line into its simple commands, wherever in the line they stand. */
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
  /** The program and its arguments without quotes. Text that is known only at run time contains a `$`; `$()` is the output of a command. */
  readonly words: readonly string[]
  /** Variables set for this command, or for those that follow where no program is named. */
  readonly assignments: readonly string[]
  /** Files that it truncates, or writes to in the middle. */
  readonly overwrites: readonly string[]
  readonly appends: readonly string[]
  /** Its standard input, where the line itself contains it: a here-document or a here-string. */
  readonly stdinText?: string
}

export interface ParsedLine {
  readonly commands: readonly SimpleCommand[]
  /** Every word, also of redirections and loops; parts that the shell replaces are marked as in `UNKNOWN`. */
  readonly shapes: readonly string[]
}

/** Stands in a shape for text that is known only at run time: private-use characters, which no path contains. */
export const UNKNOWN = {
  /** Any characters of one file name: `*`. */
  name: '\uE000',
  /** Any characters: `$X`. */
  text: '\uE001',
  home: '\uE002',
  here: '\uE003',
} as const

/** Deeper nesting of substitutions makes a line unreadable. */
const MAX_DEPTH = 40
/** A line with more syntax nodes is unreadable. */
const MAX_NODES = 6_000

/**
 * Everything that the line runs, also inside other commands. Undefined when it cannot be parsed, is nested too deeply, or when
 * another shell would parse it differently.
 */
export function parseLine(line: string): ParsedLine | undefined {
  const reader = new LineReader()
  // The parser runs out of stack on very deep nesting; `read` returns false then.
  const isRead = reader.read(line, { isStrict: true }, 0)
  return isRead && !reader.isUnreadable ? reader : undefined
}

interface ReadMode {
  /** Whether a syntax error makes the line unreadable. */
  readonly isStrict: boolean
}

class LineReader implements ParsedLine {
  readonly commands: SimpleCommand[] = []
  readonly shapes: string[] = []
  isUnreadable = false
  #nodes = 0

  read(line: string, mode: ReadMode, depth: number): boolean {
    try {
      this.#visit(parse(line), { ...mode, source: line, depth })
      return true
    } catch {
      return false
    }
  }

  #visit(node: SyntaxNode, context: VisitContext): void {
    this.#nodes += 1
    if (this.#nodes > MAX_NODES || context.depth > MAX_DEPTH) this.isUnreadable = true
    if (this.isUnreadable) return
    const within = this.#take(node, context)
    forEachChild(node, (child) => this.#visit(child, within))
  }

  #take(node: SyntaxNode, context: VisitContext): VisitContext {
    switch (node.type) {
      case 'Script':
        if (context.isStrict && 'errors' in node && node.errors !== undefined && node.errors.length > 0)
          this.isUnreadable = true
        return { ...context, source: node.source ?? context.source, depth: context.depth + 1 }
      case 'Word':
      case 'Assignment':
        this.shapes.push(shapeOf(node))
        return context
      case 'Command':
        this.commands.push(commandOf(node))
        return context
      case 'Redirected':
        this.commands.push(commandWith({ words: [], assignments: [] }, node.redirects))
        return context
      case 'TestCommand':
      case 'ArithmeticCommand':
        this.#readAsOtherShells(context.source.slice(node.pos, node.end), context)
        return context
      case 'AnsiCQuoted':
        // A shell without `$'…'` ends the quotes at the first `'`.
        if (node.text.includes("\\'")) this.isUnreadable = true
        return context
      case 'ArithmeticExpansion':
        if (node.text.startsWith('$[')) this.isUnreadable = true
        return context
      default:
        return context
    }
  }

  /**
   * A shell without `[[` and `((` reads the first as a program and the second as two subshells. The commands that it would
   * run are added.
   */
  #readAsOtherShells(text: string, { depth }: VisitContext): void {
    const inner = text.startsWith('((') ? `( ${text.slice(1, -1)} )` : `: ${text.slice(2, -2)}`
    if (!this.read(inner, { isStrict: false }, depth + 1)) this.isUnreadable = true
  }
}

interface VisitContext extends ReadMode {
  /** The text that node positions refer to. */
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
  const stdinTexts = redirects.flatMap((one) =>
    one.type === 'HereDoc' ? [one.body.text] : one.type === 'HereString' ? [textOfTarget(one.target)] : [],
  )
  const [last] = stdinTexts.slice(-1)
  return {
    words: words.map(wordText),
    assignments: assignments.map(wordText),
    overwrites: targets(OVERWRITING),
    appends: targets(APPENDING),
    ...(last !== undefined && { stdinText: last }),
  }
}

/** A redirection to an open descriptor has no file name. */
function textOfTarget(target: Word | undefined): string {
  return target === undefined ? '' : wordText(target)
}

function wordText(word: Word | Assignment): string {
  if (word.type === 'Word') return joinedParts(word, TEXT)
  return `${word.text.slice(0, word.text.indexOf('=') + 1)}${valueOf(word, TEXT)}`
}

function shapeOf(word: Word | Assignment): string {
  if (word.type === 'Assignment') return `${word.name}=${valueOf(word, SHAPE)}`
  return joinedParts(word, SHAPE)
}

function valueOf({ value }: Assignment, style: Style): string {
  if (value.type === 'Word') return joinedParts(value, style)
  return value.elements.map((element) => joinedParts(element, style)).join(' ')
}

function joinedParts(word: Word, style: Style): string {
  const text = word.parts === undefined ? word.value : word.parts.map((part) => partOf(part, style)).join('')
  // Only a `~` outside of quotes is the home directory.
  return style === SHAPE && /^~(?=\/|$)/u.test(word.text) ? `${UNKNOWN.home}${text.slice(1)}` : text
}

/** How the parts that are known only at run time are written. */
interface Style {
  variable(text: string): string
  output: string
  sum: string
  glob(text: string): string
  braces(text: string): string
}

const TEXT: Style = {
  variable: (text) => (text.startsWith('${') ? '${}' : text),
  output: '$()',
  sum: '$',
  glob: (text) => text,
  braces: (text) => text,
}

const SHAPE: Style = {
  variable: (text) => {
    const name = text.replace(/^\$\{?|\}$/gu, '')
    return name === 'HOME' ? UNKNOWN.home : name === 'PWD' ? UNKNOWN.here : UNKNOWN.text
  },
  output: UNKNOWN.text,
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
      // Characters written by their number hide what they are: treated as unknown.
      return style === TEXT && part.text.includes('\\') ? '$' : part.value
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return style.variable(part.text)
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return style.output
    case 'ArithmeticExpansion':
      return style.sum
    case 'Glob':
    case 'ExtendedGlob':
      return style.glob(part.text)
    case 'BraceExpansion':
      return style.braces(part.text)
  }
}
