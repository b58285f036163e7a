/** What no linter checks: exports of everything, barrels, ports with behaviour, a core that knows the wire, and the sentence that every file opens with. */
import { type ESTree, Visitor } from 'rolldown/utils'
import { isTest, place, type Offence, type Parsed } from './source.ts'

/** What an importer gets must be readable in the file that it names. The linter and the compiler refuse the rest of the syntax that this house does without. */
export function exportsOfEverything(file: Parsed): readonly Offence[] {
  return file.program.body
    .filter((statement) => statement.type === 'ExportAllDeclaration')
    .map((statement) => `${place(file, statement.start)} says export *; name what is exported`)
}

/** An index.ts would only be a second name for what is elsewhere; src/index.ts is the package's face. */
export function barrels(paths: readonly string[]): readonly Offence[] {
  return paths
    .filter((path) => path.endsWith('/index.ts') && path !== 'src/index.ts')
    .map((path) => `${path}:1 is a barrel; name the file after what it holds`)
}

/** Types are erased; whatever is left of a port would be a second place where behaviour lives. */
export function portsThatEmit(file: Parsed): readonly Offence[] {
  if (!file.path.startsWith('src/ports/') || isTest(file.path)) return []
  return file.program.body
    .filter((statement) => !isErased(statement))
    .map((statement) => `${place(file, statement.start)} emits JavaScript, but a port is types only`)
}

function isErased(statement: ESTree.Statement | ESTree.Directive): boolean {
  switch (statement.type) {
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return true
    case 'ImportDeclaration':
      return statement.importKind === 'type'
    case 'ExportNamedDeclaration':
      return statement.exportKind === 'type' || (statement.declaration != null && isErased(statement.declaration))
    default:
      return false
  }
}

const WIRE = /^(?:session|fs|terminal|elicitation|_parley)\/[a-z_]+$|^_meta$/u

/** The core outlives the versions of ACP: no method and no field of its messages is named there. */
export function namesOfTheWire(file: Parsed): readonly Offence[] {
  if (!['src/session/', 'src/ports/'].some((core) => file.path.startsWith(core)) || isTest(file.path)) return []
  const offences: Offence[] = []
  const found = (node: ESTree.Span, word: unknown): void => {
    if (typeof word === 'string' && WIRE.test(word))
      offences.push(`${place(file, node.start)} says ${word}, which is a word of ACP; the edge translates it`)
  }
  new Visitor({
    Literal: (node) => found(node, node.value),
    Identifier: (node) => found(node, node.name),
  }).visit(file.program)
  return offences
}

/** A file opens with the one sentence that a stranger needs. A test's own words do that. */
export function speechless(file: Parsed): readonly Offence[] {
  const opening = file.text.replace(/^#!.*\n/, '')
  if (isTest(file.path) || opening.startsWith('/**')) return []
  return [`${file.path}:1 has no opening sentence; say in a /** comment */ what a stranger finds here`]
}
