/** Builds the product so that every function first says which file it stands in: for `npm run paths`. */
import { cpSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'rolldown'
import { type ESTree, parseSync, Visitor } from 'rolldown/utils'
import config from '../../rolldown.config.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Where a process writes the files that it passes; absent, nothing is written. */
export const VISITS_VARIABLE = 'PARLEY_PATHS_FILE'

/**
 * Runs once per bundle, before anything else. A visit is a line `monotonic-nanoseconds pid/thread file`; the clock is one for all processes
 * of a machine, so that the visits of relay, server and workers can be put into one order.
 */
const recorder = `
const { writeSync: __writeSync, openSync: __openSync } = process.getBuiltinModule('node:fs')
const { threadId: __threadId } = process.getBuiltinModule('node:worker_threads')
const __visit = (globalThis.__parleyVisit ??= (() => {
  const path = process.env['${VISITS_VARIABLE}']
  if (path === undefined) return () => {}
  const file = __openSync(path, 'a')
  let last
  return (name) => {
    const now = process.hrtime.bigint()
    if (name !== last) __writeSync(file, now + ' ' + process.pid + '/' + __threadId + ' ' + name + '\\n')
    last = name
  }
})())
`

interface Insertion {
  readonly at: number
  readonly text: string
}

/** The bin of an instrumented build, below node_modules so that its packages are found. */
export async function buildInstrumented(): Promise<string> {
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
  const target = mkdtempSync(join(root, 'node_modules/.cache/parley-paths-'))
  for (const options of config) {
    const plugins = [options.plugins, visits]
    const output = { ...options.output, dir: join(target, 'dist'), cleanDir: false, banner: recorder }
    await build({ ...options, cwd: root, plugins, output, logLevel: 'silent' } as BuildOptions)
  }
  cpSync(join(root, 'bin'), join(target, 'bin'), { recursive: true })
  cpSync(join(root, 'package.json'), join(target, 'package.json'))
  return join(target, 'bin/parley.mjs')
}

const visits: Plugin = {
  name: 'visits',
  transform: {
    order: 'pre',
    filter: { id: /[\\/]src[\\/].*\.ts$/ },
    handler: (code, id) => withVisits(code, relative(root, id)),
  },
}

/** Only hands out what it has, says whether it has it, or does nothing: no reader opens a file for that. */
function isAccessor(body: ESTree.FunctionBody | ESTree.Expression): boolean {
  if (body.type !== 'BlockStatement') return isField(body)
  const [statement, ...more] = body.body
  if (statement === undefined) return true
  return more.length === 0 && statement.type === 'ReturnStatement' && isField(statement.argument)
}

/** `this.#list`, `entry.seq`, `this.#result !== undefined`. */
function isField(value: ESTree.Expression | null): boolean {
  if (value === null || value.type === 'Identifier' || value.type === 'ThisExpression' || value.type === 'Literal')
    return true
  if (value.type === 'BinaryExpression' && ['===', '!=='].includes(value.operator))
    return value.left.type !== 'PrivateIdentifier' && isField(value.left) && isField(value.right)
  return value.type === 'MemberExpression' && !value.computed && isField(value.object)
}

/** The same module; each of its functions first calls `__visit` with the name of the file. */
function withVisits(code: string, file: string): string {
  const call = `__visit(${JSON.stringify(file)})`
  const insertions: Insertion[] = []
  const enter = (node: ESTree.Function | ESTree.ArrowFunctionExpression): void => {
    if (node.body === null || isAccessor(node.body)) return
    if (node.body.type === 'BlockStatement') {
      insertions.push({ at: node.body.start + 1, text: `${call};` })
      return
    }
    insertions.push({ at: node.body.start, text: `(${call},` }, { at: node.body.end, text: ')' })
  }
  const { program, errors } = parseSync(file, code)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  new Visitor({ FunctionDeclaration: enter, FunctionExpression: enter, ArrowFunctionExpression: enter }).visit(program)
  return insertions
    .toSorted((a, b) => b.at - a.at)
    .reduce((text, { at, text: more }) => text.slice(0, at) + more + text.slice(at), code)
}
