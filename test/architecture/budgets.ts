/** How long a file and a function may be and how deep they may nest, measured on the syntax tree. */
import { Visitor, type ESTree } from 'rolldown/utils'
import { lineOf, place, type Offence, type Parsed } from './source.ts'

interface Budget {
  readonly nineInTen: number
  readonly hard: number
}

const budgets = {
  file: { nineInTen: 300, hard: 500 },
  function: { nineInTen: 30, hard: 80 },
  nesting: 3,
} as const

/** Functions that are one flat table of cases and may pass the hard limit, as `path#name`. */
const flatTables: readonly string[] = []

interface Measured {
  readonly at: string
  readonly name: string
  readonly lines: number
}

export function longFiles(files: readonly Parsed[]): readonly Offence[] {
  const measured = files.map((file) => ({ at: `${file.path}:1`, name: 'the file', lines: lineCount(file.text) }))
  return tooLong(measured, budgets.file)
}

export function longFunctions(files: readonly Parsed[], excepted = flatTables): readonly Offence[] {
  const measured = files.flatMap((file) =>
    functionsOf(file).filter((one) => !excepted.includes(`${file.path}#${one.name}`)),
  )
  return tooLong(measured, budgets.function)
}

/** Past the hard limit: always. Past the usual one: all of them, once they are more than one in ten. */
function tooLong(measured: readonly Measured[], budget: Budget): readonly Offence[] {
  const unusual = measured.filter((one) => one.lines > budget.nineInTen)
  const spent = unusual.length * 10 > measured.length
  return (spent ? unusual : unusual.filter((one) => one.lines > budget.hard))
    .toSorted((a, b) => b.lines - a.lines)
    .map((one) => `${one.at} ${one.name} has ${one.lines} lines, but ${limit(one.lines, budget)}`)
}

function limit(lines: number, budget: Budget): string {
  return lines > budget.hard ? `${budget.hard} is the limit` : `nine in ten must stay within ${budget.nineInTen}`
}

function lineCount(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

/** Functions with a body of statements, except suites: those are measured test by test. */
function functionsOf(file: Parsed): readonly Measured[] {
  const measured: Measured[] = []
  const names = new Map<number, string>()
  const measure = (node: ESTree.Function | ESTree.ArrowFunctionExpression): void => {
    if (node.body?.type !== 'BlockStatement' || node.body.body.some(isCaseOfSuite)) return
    const lines = lineOf(file.text, node.end) - lineOf(file.text, node.start) + 1
    const name = node.id?.name ?? names.get(node.start) ?? 'a function'
    measured.push({ at: place(file, node.start), name, lines })
  }
  const name = (key: ESTree.Node, value: ESTree.Span | null): void => {
    if (value && key.type === 'Identifier') names.set(value.start, key.name)
  }
  new Visitor({
    VariableDeclarator: (node) => name(node.id, node.init),
    MethodDefinition: (node) => name(node.key, node.value),
    Property: (node) => name(node.key, node.value),
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(file.program)
  return measured
}

/** `test(…)`, `describe.each(…)(…)` and their like. */
function isCaseOfSuite(statement: ESTree.Node): boolean {
  let node: ESTree.Node = statement.type === 'ExpressionStatement' ? statement.expression : statement
  while (node.type === 'CallExpression' || node.type === 'MemberExpression') {
    node = node.type === 'CallExpression' ? node.callee : node.object
  }
  return node.type === 'Identifier' && ['describe', 'test', 'it'].includes(node.name)
}

/** Every statement that steers inside more than three others, callbacks included. */
export function deepNesting(file: Parsed): readonly Offence[] {
  const offences: Offence[] = []
  const chained = new Set<number>()
  let depth = 0
  const enter = (node: ESTree.Span): void => {
    if (chained.has(node.start)) return
    depth++
    if (depth <= budgets.nesting) return
    offences.push(`${place(file, node.start)} nests ${depth} deep, but ${budgets.nesting} is the limit`)
  }
  const leave = (node: ESTree.Span): void => {
    if (!chained.has(node.start)) depth--
  }
  new Visitor({
    IfStatement: (node) => {
      // `else if` goes on beside its `if`, not inside it.
      if (node.alternate?.type === 'IfStatement') chained.add(node.alternate.start)
      enter(node)
    },
    'IfStatement:exit': leave,
    ForStatement: enter,
    'ForStatement:exit': leave,
    ForOfStatement: enter,
    'ForOfStatement:exit': leave,
    ForInStatement: enter,
    'ForInStatement:exit': leave,
    WhileStatement: enter,
    'WhileStatement:exit': leave,
    DoWhileStatement: enter,
    'DoWhileStatement:exit': leave,
    SwitchStatement: enter,
    'SwitchStatement:exit': leave,
    TryStatement: enter,
    'TryStatement:exit': leave,
  }).visit(file.program)
  return offences
}
