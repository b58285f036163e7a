/** Finds the line and column of a setting in a file, for the user who has to correct it. */
import { TomlError } from 'smol-toml'

/** `path:line`, where a line sets or heads what `key` (`mcp.files.command`, `permissions.allow[0].tool`) names; else the path alone. */
export function positionOfKey(path: string, text: string, key: string): string {
  const line = findLine(text.split('\n'), key.replace(/\[\d+\]/gu, ''))
  return line === undefined ? path : `${path}:${line}`
}

/** A header of a table, or a line that sets a key. */
interface Mark {
  /** From 1. */
  readonly line: number
  readonly path: string
  readonly isHeader: boolean
}

function findLine(lines: readonly string[], wanted: string): number | undefined {
  const marks = marksIn(lines)
  const exact = marks.find(({ path }) => path === wanted || path.startsWith(`${wanted}.`))
  if (exact !== undefined) return exact.line
  const [around] = marks
    .filter(({ path }) => wanted.startsWith(`${path}.`))
    .toSorted((one, other) => other.path.length - one.path.length)
  return around === undefined
    ? undefined
    : lineWithin(around, { lines, marks, word: wanted.split('.').at(-1) ?? wanted })
}

interface Looking {
  readonly lines: readonly string[]
  readonly marks: readonly Mark[]
  readonly word: string
}

/** The line of a list or an inline table that sets `word`; else where that begins. */
function lineWithin({ line, isHeader }: Mark, { lines, marks, word }: Looking): number {
  const end = marks.find((mark) => mark.line > line && (mark.isHeader || !isHeader))?.line ?? lines.length + 1
  const sets = new RegExp(String.raw`(?:^|[{,.])\s*["']?${word.replace(/[^\w-]/gu, String.raw`\$&`)}["']?\s*[=.]`, 'u')
  const found = lines.slice(line - 1, end - 1).findIndex((text) => sets.test(text))
  return found < 0 ? line : line + found
}

const TOML_KEY = String.raw`(?:"[^"]*"|'[^']*'|[\w-]+)`
const PATH = String.raw`${TOML_KEY}(?:\s*\.\s*${TOML_KEY})*`
const HEADER = new RegExp(String.raw`^\s*\[\[?\s*(${PATH})\s*\]`, 'u')
const SETS = new RegExp(String.raw`^\s*(${PATH})\s*=`, 'u')

function marksIn(lines: readonly string[]): readonly Mark[] {
  const marks: Mark[] = []
  let table = ''
  for (const [index, text] of lines.entries()) {
    const header = HEADER.exec(text)?.[1]
    const key = SETS.exec(text)?.[1]
    if (header !== undefined) table = plainPath(header)
    const path = header === undefined ? key && [table, plainPath(key)].filter((part) => part !== '').join('.') : table
    if (path) marks.push({ line: index + 1, path, isHeader: header !== undefined })
  }
  return marks
}

/** `mcp . "a b"` is `mcp.a b`. */
function plainPath(path: string): string {
  return [...path.matchAll(new RegExp(TOML_KEY, 'gu'))].map(([name]) => name.replace(/^["']|["']$/gu, '')).join('.')
}

/** Where a file stops being TOML, and why. */
export function faultOfToml(path: string, error: unknown): { readonly path: string; readonly reason: string } {
  if (!(error instanceof TomlError)) return { path, reason: error instanceof Error ? error.message : String(error) }
  const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '')
  return { path: `${path}:${error.line}:${error.column}`, reason: `this is not valid TOML: ${reason}` }
}
