/** How much a reader must hold at once: files of a folder, callbacks of an interface, collaborators of a class. */
import { posix } from 'node:path'
import { type ESTree, Visitor } from 'rolldown/utils'
import { type Offence, type Parsed, place } from './source.ts'

const MAX_FILES = 12
const MAX_CALLBACKS = 4
const MAX_COLLABORATORS = 8

export function crowdedFolders(paths: readonly string[]): readonly Offence[] {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count > MAX_FILES)
    .map(([folder, count]) => `${folder} has ${count} files; find the sub-folders in it`)
}

/**
 * What travels together is one object, not a bag of closures. The face of an object that a class implements or a function
 * returns is no bag, and a port is one page of functions by nature.
 */
export function bagsOfCallbacks(files: readonly Parsed[]): readonly Offence[] {
  const made = namesOfMade(files)
  return files
    .filter(({ path }) => !path.startsWith('src/ports/'))
    .flatMap((file) =>
      interfacesOf(file).flatMap(({ id: { name }, body, start }) => {
        const callbacks = body.body.filter(isCallback).length
        return callbacks > MAX_CALLBACKS && !made.has(name)
          ? [`${place(file, start)} ${name} has ${callbacks} callbacks; pass the object that they belong to`]
          : []
      }),
    )
}

/** Every name that stands behind `implements`, or as the type of what a function returns. */
function namesOfMade(files: readonly Parsed[]): ReadonlySet<string> {
  const made = files.flatMap(({ text }) => [...text.matchAll(/\bimplements ([^{]+)|\): (?:Promise<)?([A-Z]\w*)/gu)])
  return new Set(made.flatMap(([, faces = '', type = '']) => faces.split(/\W+/u).concat(type)))
}

function interfacesOf({ program }: Parsed): readonly ESTree.TSInterfaceDeclaration[] {
  const found: ESTree.TSInterfaceDeclaration[] = []
  new Visitor({ TSInterfaceDeclaration: (node) => void found.push(node) }).visit(program)
  return found
}

function isCallback(member: ESTree.TSSignature): boolean {
  if (member.type === 'TSMethodSignature') return true
  return member.type === 'TSPropertySignature' && member.typeAnnotation?.typeAnnotation.type === 'TSFunctionType'
}

/** Fields of a class whose types, or whose first values, name other classes of ours. */
export function collaborators(files: readonly Parsed[]): readonly Offence[] {
  const classes = new Set(files.flatMap((file) => classesOf(file).map(({ name }) => name)))
  return files.flatMap((file) =>
    classesOf(file).flatMap(({ name, start, fields }) => {
      const words = new Set(fields.match(/[A-Za-z]\w*/gu))
      const others = [...words]
        .filter((word) => word !== name && classes.has(word) && !word.endsWith('Error'))
        .toSorted()
      return others.length > MAX_COLLABORATORS
        ? [`${place(file, start)} ${name} works with ${others.length} other classes: ${others.join(', ')}`]
        : []
    }),
  )
}

interface ClassInFile {
  readonly name: string
  readonly start: number
  readonly fields: string
}

function classesOf({ program, text }: Parsed): readonly ClassInFile[] {
  const found: ClassInFile[] = []
  new Visitor({
    ClassDeclaration({ id, start, body }) {
      if (id === null) return
      const fields = body.body.flatMap((member) =>
        member.type === 'PropertyDefinition' ? textAt(text, member.typeAnnotation ?? member.value) : [],
      )
      found.push({ name: id.name, start, fields: fields.join('\n') })
    },
  }).visit(program)
  return found
}

function textAt(text: string, node: ESTree.Span | null | undefined): string {
  return node ? text.slice(node.start, node.end) : ''
}
