/** Changes one value of a JSON file that a user wrote: comments and all other values stay. */
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { replaceFile } from '../../state-files/atomic-file.ts'
import { fail } from '../../errors/parley-error.ts'

type Path = readonly string[]

/** Only a command that edits such a file loads it. */
const jsonc = async () => await import('jsonc-parser')

/** Undefined where nothing is there. Throws SETUP_FILE_UNREADABLE. */
export async function valueIn(file: string, path: Path): Promise<unknown> {
  const { findNodeAtLocation, getNodeValue, parseTree } = await jsonc()
  const tree = parseTree(await checkedText(file), [], { allowTrailingComma: true })
  const node = tree === undefined ? undefined : findNodeAtLocation(tree, [...path])
  return node === undefined ? undefined : (getNodeValue(node) as unknown)
}

export async function isWritten(file: string, path: Path, value: unknown): Promise<boolean> {
  const found = await valueIn(file, path)
  // The objects of the parser have no prototype.
  return found !== undefined && isDeepStrictEqual(JSON.parse(JSON.stringify(found)), value)
}

/** Undefined removes the value. Throws SETUP_FILE_UNREADABLE. */
export async function writeValue(file: string, path: Path, value: unknown): Promise<void> {
  const { applyEdits, modify } = await jsonc()
  const text = await checkedText(file)
  const indent = /^(?<indent>[ \t]+)\S/mu.exec(text)?.groups?.['indent'] ?? '  '
  const formattingOptions = { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: '\n' }
  const changed = applyEdits(
    text === '' ? '{}' : text,
    modify(text === '' ? '{}' : text, [...path], value, { formattingOptions }),
  )
  put(file, changed.endsWith('\n') ? changed : `${changed}\n`)
}

/** A dotfile is often a link to the file that its user keeps elsewhere: that one is written, with the rights that it has. */
function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  const real = existsSync(file) ? realpathSync(file) : file
  replaceFile(real, text, existsSync(real) ? statSync(real).mode & 0o777 : 0o600)
}

/** The text of a file that an edit can be made in; empty where there is none. */
async function checkedText(file: string): Promise<string> {
  if (!existsSync(file)) return ''
  const text = readFileSync(file, 'utf8')
  if (text.trim() === '') return ''
  const { parse, printParseErrorCode } = await jsonc()
  const errors: { readonly error: number; readonly offset: number }[] = []
  const value: unknown = parse(text, errors as Parameters<typeof parse>[1], { allowTrailingComma: true })
  const [first] = errors
  if (first !== undefined) {
    const line = text.slice(0, first.offset).split('\n').length
    return fail('SETUP_FILE_UNREADABLE', { path: file, reason: `${printParseErrorCode(first.error)} in line ${line}` })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fail('SETUP_FILE_UNREADABLE', { path: file, reason: 'it is no JSON object' })
  return text
}
