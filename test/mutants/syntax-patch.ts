/**
 * A change to a source that is told by its syntax instead of its text: in which declaration, what is written there, and what
 * comes in its place. Formatting and comments do not matter, nor do names for which the pattern has a variable; a patch that
 * fits nowhere, or twice, is an error.
 */
import { parseSync } from 'rolldown/utils'

export interface SyntaxPatch {
  /** The declaration around it: a function, a method, a field or a constant, such as `decide` or `SessionLog.#append`. */
  readonly inside: string
  /**
   * An expression or a statement in TypeScript. `$name` stands for any expression, statement or name, and `...$name` at the
   * end of a list for all that follows; the same variable stands for the same thing everywhere.
   */
  readonly find: string
  /** What is written instead; variables are filled in. Empty takes the whole statement out. */
  readonly put: string
}

/** A piece of a text inside quotes: SQL, a shell script. */
export interface StringPatch {
  readonly inside: string
  readonly findText: string
  readonly put: string
}

export type Patch = SyntaxPatch | StringPatch

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

interface Place {
  readonly start: number
  readonly end: number
  readonly put: string
}

/** The source with the patch in it, or why it does not fit. */
export function patched(source: string, patch: Patch): { readonly text: string } | { readonly why: string } {
  const roots = declarationsNamed(programOf(source), patch.inside)
  if (roots.length === 0) return { why: `has no declaration ${patch.inside}` }
  const found = roots.flatMap((root) => ('find' in patch ? matches(source, root, patch) : strings(source, root, patch)))
  const [place] = found
  const what = JSON.stringify('find' in patch ? patch.find : patch.findText)
  if (place === undefined) return { why: `${patch.inside} no longer has ${what}` }
  if (found.length > 1) return { why: `${patch.inside} has ${found.length} times ${what}` }
  return { text: source.slice(0, place.start) + place.put + source.slice(place.end) }
}

function matches(source: string, root: Node, { find, put }: SyntaxPatch): readonly Place[] {
  const pattern = patternOf(find, put === '')
  return everyNode(root).flatMap((node) => {
    const bound = new Map<string, string>()
    if (!fits(pattern, node, { source, bound })) return []
    const filled = put.replaceAll(/\$[a-z]\w*/giu, (variable) => bound.get(variable) ?? variable)
    return [{ start: node.start, end: node.end, put: filled }]
  })
}

/** The text must stand in one string or one piece of a template. */
function strings(source: string, root: Node, { findText, put }: StringPatch): readonly Place[] {
  return everyNode(root)
    .filter(({ type }) => type === 'Literal' || type === 'TemplateElement')
    .flatMap(({ start, end }) => {
      const pieces = source.slice(start, end).split(findText)
      // Twice in one string is as unclear as in two.
      return pieces.slice(1).map(() => ({ start, end, put: pieces.join(put) }))
    })
}

interface Match {
  readonly source: string
  /** What each variable stands for, as it is written. */
  readonly bound: Map<string, string>
}

function fits(pattern: unknown, found: unknown, match: Match): boolean {
  if (Array.isArray(pattern)) return Array.isArray(found) && listFits(pattern, found, match)
  if (!isNode(pattern)) return isObject(pattern) ? fieldsFit(pattern, found, match) : pattern === found
  const variable = variableIn(pattern)
  if (variable !== undefined && isNode(found))
    return isSame(variable, match.source.slice(found.start, found.end), match)
  return fieldsFit(pattern, found, match)
}

function listFits(pattern: readonly unknown[], found: readonly unknown[], match: Match): boolean {
  const last = pattern.at(-1)
  const takesRest = isNode(last) && last.type === 'SpreadElement' && variableIn(last['argument'] as Node) !== undefined
  const fixed = takesRest ? pattern.slice(0, -1) : pattern
  if (takesRest ? found.length < fixed.length : found.length !== fixed.length) return false
  return fixed.every((part, at) => fits(part, found[at], match))
}

/** Where it stands and how it was quoted says nothing. */
const LOOSE: ReadonlySet<string> = new Set(['start', 'end', 'raw', 'parent'])

function fieldsFit(pattern: object, found: unknown, match: Match): boolean {
  if (!isObject(found)) return false
  const fields = Object.entries(pattern).filter(([name]) => !LOOSE.has(name))
  return fields.every(([name, value]) => fits(value, found[name], match))
}

function isSame(variable: string, text: string, { bound }: Match): boolean {
  const known = bound.get(variable)
  bound.set(variable, text)
  return known === undefined || known === text
}

function variableIn(node: Node): string | undefined {
  const inner = node.type === 'ExpressionStatement' ? (node['expression'] as Node) : node
  const name = inner.type === 'Identifier' ? String(inner['name']) : ''
  return /^\$[a-z]/iu.test(name) ? name : undefined
}

/** Parsed where private names, `await` and `return` may stand. */
function patternOf(find: string, asStatement: boolean): Node {
  const [statement, ...more] = bodyOf(programOf(`async function* pattern() {\n${find}\n}`))
  if (statement === undefined || more.length > 0) throw new Error(`a pattern is one statement: ${find}`)
  return statement.type === 'ExpressionStatement' && !asStatement ? (statement['expression'] as Node) : statement
}

/** The statements of the one function that a program declares. */
function bodyOf(program: Node): readonly Node[] {
  const block = childrenOf(program)
    .flatMap(childrenOf)
    .find(({ type }) => type === 'BlockStatement')
  return block === undefined ? [] : childrenOf(block)
}

function programOf(text: string): Node {
  const { program, errors } = parseSync('source.ts', text)
  // A private name outside of its class is no mistake in a pattern.
  const first = errors.find(({ message }) => !message.includes('Private'))
  if (first !== undefined) throw new Error(`cannot be parsed: ${first.message}: ${text}`)
  return program as unknown as Node
}

/** Declarations whose path of names ends so. */
function declarationsNamed(root: Node, wanted: string): readonly Node[] {
  const found: Node[] = []
  const visit = (node: Node, around: readonly string[]): void => {
    const name = nameOf(node)
    const names = name === undefined ? around : [...around, name]
    if (name !== undefined && `.${names.join('.')}`.endsWith(`.${wanted}`)) found.push(node)
    else for (const child of childrenOf(node)) visit(child, names)
  }
  visit(root, [])
  return found
}

const KEYED: ReadonlySet<string> = new Set(['MethodDefinition', 'PropertyDefinition', 'Property'])
const NAMED: ReadonlySet<string> = new Set(['FunctionDeclaration', 'ClassDeclaration', 'VariableDeclarator'])

function nameOf(node: Node): string | undefined {
  const named = (NAMED.has(node.type) ? node['id'] : KEYED.has(node.type) ? node['key'] : undefined) as Node | undefined
  if (named?.type === 'PrivateIdentifier') return `#${String(named['name'])}`
  return named?.type === 'Identifier' ? String(named['name']) : undefined
}

function everyNode(root: Node): readonly Node[] {
  return [root, ...childrenOf(root).flatMap(everyNode)]
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isNode)
}

function isNode(value: unknown): value is Node {
  return isObject(value) && typeof value['type'] === 'string' && typeof value['start'] === 'number'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
