/** A source file as the house's checks see it: its path, its text, its syntax tree. Paths are relative to the repository. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'rolldown/utils'

export interface Source {
  readonly path: string
  readonly text: string
}

export type Parsed = Source & Pick<ReturnType<typeof parseSync>, 'program' | 'comments'>

/** What breaks a rule, as one line: `file:line what is wrong, and what would be right`. */
export type Offence = string

export function parse(source: Source): Parsed {
  const { program, comments, errors } = parseSync(source.path, source.text)
  const [first] = errors
  if (first) throw new Error(`${source.path} cannot be parsed: ${first.message}`)
  return { ...source, program, comments }
}

/** `src/session/domain/decide.ts:12`, for a position in the text. */
export function place(file: Parsed, position: number): string {
  return `${file.path}:${lineOf(file.text, position)}`
}

export function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts')
}

/** Every TypeScript file below the folders that exist, in a stable order. */
export function readSources(root: string, folders: readonly string[]): readonly Source[] {
  return folders
    .flatMap((folder) => [...listFiles(root, folder, '.ts'), ...listFiles(root, folder, '.tsx')])
    .map((path) => ({ path, text: read(root, path) }))
}

export function read(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export function listFiles(root: string, folder: string, ending: string): readonly string[] {
  return entries(join(root, folder))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) return listFiles(root, path, ending)
      return entry.name.endsWith(ending) ? [path] : []
    })
    .toSorted()
}

function entries(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return [] // A folder is created with its first file, so one that is not there yet is empty.
  }
}
