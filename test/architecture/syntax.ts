/** The parts of the language that this house does without, and the sentence that every file opens with. */
import { Visitor, type ESTree } from 'rolldown/utils'
import { isTest, place, type Offence, type Parsed } from './source.ts'

export function foreignSyntax(file: Parsed): readonly Offence[] {
  const offences: Offence[] = []
  const refuse = (instead: string) => (node: ESTree.Span) => offences.push(`${place(file, node.start)} ${instead}`)
  new Visitor({
    ExportDefaultDeclaration: refuse('exports a default; export a name'),
    ExportAllDeclaration: refuse('says export *; name what is exported'),
    TSExportAssignment: refuse('says export =; export a name'),
    TSImportEqualsDeclaration: refuse('says import =; use import … from'),
    TSAnyKeyword: refuse('says any; use unknown and look, or the real type'),
    TSNonNullExpression: refuse('says !; handle the missing value'),
    TSEnumDeclaration: refuse('declares an enum; use a union of strings'),
    TSModuleDeclaration: refuse('declares a namespace; a file is one already'),
    TSParameterProperty: refuse('declares a property as a parameter; write the field'),
  }).visit(file.program)
  for (const comment of file.comments) {
    if (/@ts-(ignore|nocheck)/.test(comment.value)) refuse('silences the compiler; mend the type')(comment)
  }
  return offences
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

/** A file opens with the one sentence that a stranger needs. A test's own words do that. */
export function speechless(file: Parsed): readonly Offence[] {
  const opening = file.text.replace(/^#!.*\n/, '')
  if (isTest(file.path) || opening.startsWith('/**')) return []
  return [`${file.path}:1 has no opening sentence; say in a /** comment */ what a stranger finds here`]
}
