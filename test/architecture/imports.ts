/** What each file imports, however it says so: statically, as a type, again as an export, dynamically, or in a type. */
import { posix } from 'node:path'
import { Visitor, type ESTree } from 'rolldown/utils'
import { place, type Parsed } from './source.ts'

export interface Import {
  readonly from: Parsed
  /** `file:line`. */
  readonly at: string
  readonly specifier: string
  readonly target: Target
  /** Loaded with its importer; not a type, not an `import()`. */
  readonly eager: boolean
}

export type Target =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'node'; readonly module: string }
  | { readonly kind: 'package'; readonly name: string }
  | { readonly kind: 'unknown' }

type Found = (node: ESTree.Span & { readonly source?: unknown }, source: ESTree.Node, eager: boolean) => void

export function importsOf(file: Parsed): readonly Import[] {
  const imports: Import[] = []
  const found: Found = (node, source, eager) => {
    const specifier = source.type === 'Literal' && typeof source.value === 'string' ? source.value : ''
    imports.push({ from: file, at: place(file, node.start), specifier, target: targetOf(file.path, specifier), eager })
  }
  new Visitor(importVisitor(found)).visit(file.program)
  return imports
}

function importVisitor(found: Found): ConstructorParameters<typeof Visitor>[0] {
  return {
    ImportDeclaration: (node) => found(node, node.source, node.importKind !== 'type'),
    ExportAllDeclaration: (node) => found(node, node.source, node.exportKind !== 'type'),
    ExportNamedDeclaration: (node) => {
      if (node.source) found(node, node.source, node.exportKind !== 'type')
    },
    ImportExpression: (node) => found(node, node.source, false),
    TSImportType: (node) => found(node, node.source, false),
    TSExternalModuleReference: (node) => found(node, node.expression, true),
    CallExpression: (node) => {
      const [source] = node.arguments
      if (source && node.callee.type === 'Identifier' && node.callee.name === 'require') found(node, source, true)
    },
  }
}

function targetOf(from: string, specifier: string): Target {
  if (specifier === '') return { kind: 'unknown' }
  if (specifier.startsWith('.')) return { kind: 'file', path: posix.join(posix.dirname(from), specifier) }
  if (specifier.startsWith('node:')) return { kind: 'node', module: specifier.slice('node:'.length) }
  const parts = specifier.split('/')
  return { kind: 'package', name: parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/') }
}
