/** Adds and removes whole tables of a TOML file as text, so that the user's text around them stays as it is. */
import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'smol-toml'

type Table = Readonly<Record<string, unknown>>

/** `text` with one more table; undefined where the result would not say just that. */
export function withTable(text: string, [group, name]: readonly [string, string], table: Table): string | undefined {
  const before = text === '' || text.endsWith('\n\n') ? text : `${text.replace(/\n?$/u, '\n')}\n`
  const after = `${before}${stringify({ [group]: { [name]: table } })}`
  const wanted = parse(text)
  const tables = groupIn(wanted, group)
  return says(after, { ...wanted, [group]: { ...tables, [name]: table } }) ? after : undefined
}

/** `text` without a table and those below it; undefined where it is not written as tables of its own. */
export function withoutTable(text: string, [group, name]: readonly [string, string]): string | undefined {
  const wanted = parse(text)
  const { [name]: _gone, ...others } = groupIn(wanted, group)
  const after = kept(text.split('\n'), (path) => path[0] === group && path[1] === name)
  const isLast = Object.keys(others).length === 0
  const { [group]: _group, ...rest } = wanted
  return says(after, isLast ? rest : { ...wanted, [group]: others }) ? after : undefined
}

/** A table lasts until the next header; comments right above that belong to the next. */
function kept(lines: readonly string[], isUnwanted: (path: readonly string[]) => boolean): string {
  const result: string[] = []
  let held: string[] = []
  let isDropping = false
  for (const line of lines) {
    const path = pathOf(line)
    if (path !== undefined) {
      isDropping = isUnwanted(path)
      if (!isDropping) result.push(...held)
      held = []
    }
    if (!isDropping) result.push(line)
    else if (/^\s*(?:#.*)?$/u.test(line)) held.push(line)
    else held = []
  }
  return `${[...result, ...held].join('\n').trimEnd()}\n`.replace(/^\n$/u, '')
}

/** The words of a header: `[mcp."a b".env]`. */
function pathOf(line: string): readonly string[] | undefined {
  if (!/^\s*\[[^[]/u.test(line)) return undefined
  try {
    return tableWords(parse(line))
  } catch {
    // A line of a list or of a long text that only looks like a header.
    return undefined
  }
}

function tableWords(table: Table): readonly string[] {
  const [word] = Object.keys(table)
  return word === undefined ? [] : [word, ...tableWords(table[word] as Table)]
}

function groupIn(table: Table, group: string): Table {
  return (table[group] ?? {}) as Table
}

/** Checks the result before it is written, because the lines of the file may have any form. */
function says(text: string, wanted: Table): boolean {
  try {
    return isDeepStrictEqual(plain(parse(text)), plain(wanted))
  } catch {
    return false
  }
}

function plain(table: Table): unknown {
  return JSON.parse(JSON.stringify(table))
}
