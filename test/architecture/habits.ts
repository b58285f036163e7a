/** Who alone may touch the environment, the command line and the time. */
import { Visitor, type ESTree } from 'rolldown/utils'
import { habits, withoutDate, type Habit } from './law.ts'
import { place, type Offence, type Parsed } from './source.ts'

type HabitName = keyof typeof habits

/** `object.property`, wherever it is read, written or taken apart. */
const members: ReadonlyMap<string, HabitName> = mapOf({
  'process.env': 'environment',
  'process.argv': 'commandLine',
  'process.exit': 'commandLine',
  'process.exitCode': 'commandLine',
  'Date.now': 'time',
  'performance.now': 'time',
  'Math.random': 'time',
  'crypto.randomUUID': 'time',
  'AbortSignal.timeout': 'time',
  'globalThis.setTimeout': 'time',
  'globalThis.setInterval': 'time',
})

const globals: ReadonlyMap<string, HabitName> = mapOf({
  setTimeout: 'time',
  setInterval: 'time',
  randomUUID: 'time',
})

/** Names that a module of Node's gives out and that mean the same as a member or a global. */
const exported: Readonly<Record<string, Readonly<Record<string, HabitName>>>> = {
  'node:process': { env: 'environment', argv: 'commandLine', exit: 'commandLine', exitCode: 'commandLine' },
  'node:crypto': { randomUUID: 'time' },
  'node:timers': { setTimeout: 'time', setInterval: 'time' },
  'node:timers/promises': { setTimeout: 'time', setInterval: 'time' },
}

export function foreignHabits(file: Parsed): readonly Offence[] {
  const offences = new Set<Offence>()
  const found = (node: ESTree.Span, text: string, name: HabitName): void => {
    const habit: Habit = habits[name]
    if (habit.home.some((home) => file.path.startsWith(home))) return
    if (name === 'date' && !withoutDate.some((folder) => file.path.startsWith(folder))) return
    offences.add(`${place(file, node.start)} says ${text}, which is ${habit.what}; ${habit.instead}`)
  }
  new Visitor(habitVisitor(found)).visit(file.program)
  return [...offences]
}

function habitVisitor(
  found: (node: ESTree.Span, text: string, name: HabitName) => void,
): ConstructorParameters<typeof Visitor>[0] {
  const named = (node: ESTree.Span, text: string, name: HabitName | undefined): void => {
    if (name) found(node, text, name)
  }
  return {
    MemberExpression: (node) => {
      const member = `${nameOf(node.object)}.${nameOf(node.property)}`
      named(node, member, members.get(member))
    },
    VariableDeclarator: (node) => {
      if (node.id.type !== 'ObjectPattern' || !node.init) return
      for (const property of node.id.properties) {
        if (property.type !== 'Property') continue
        const member = `${nameOf(node.init)}.${nameOf(property.key)}`
        named(property, member, members.get(member))
      }
    },
    ImportDeclaration: (node) => {
      for (const one of node.specifiers) {
        if (one.type !== 'ImportSpecifier') continue
        const name = nameOf(one.imported)
        named(one, name, exported[node.source.value]?.[name])
      }
    },
    CallExpression: (node) => {
      // A timer may also be handed to someone else, as in `promisify(setTimeout)`.
      for (const one of [node.callee, ...node.arguments]) {
        if (one.type === 'Identifier') named(one, one.name, globals.get(one.name))
      }
    },
    NewExpression: (node) => {
      const name = nameOf(node.callee)
      if (name !== 'Date') return
      named(node, 'new Date', node.arguments.length === 0 ? 'time' : 'date')
    },
    Identifier: (node) => named(node, node.name, node.name === 'Date' ? 'date' : undefined),
  }
}

/** An identifier's name, a string's value, or the last name of `a.b.c`; empty for anything else. */
function nameOf(node: ESTree.Node): string {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'MemberExpression') return nameOf(node.property)
  return ''
}

function mapOf(names: Readonly<Record<string, HabitName>>): ReadonlyMap<string, HabitName> {
  return new Map(Object.entries(names))
}
