/** Where in a file of settings something stands, for whoever has to correct it. */
import { TomlError } from 'smol-toml'

/** `path:line`, where exactly one line sets or heads what `key` names last; else the path alone. */
export function placeOf(path: string, text: string, key: string): string {
  const word =
    key
      .replace(/\[\d+\]/gu, '')
      .split('.')
      .at(-1) ?? key
  const name = `["']?${word.replace(/[^\w-]/gu, String.raw`\$&`)}["']?`
  const isSet = new RegExp(String.raw`(?:^|[{,.])\s*${name}\s*[=.]|^\s*\[.*(?<![\w-])${name}\s*\]`, 'u')
  const lines = text.split('\n').flatMap((line, index) => (isSet.test(line) ? [index + 1] : []))
  return lines.length === 1 ? `${path}:${lines[0]}` : path
}

/** Where a file stops being TOML, and why. */
export function faultOfToml(path: string, error: unknown): { readonly path: string; readonly reason: string } {
  if (!(error instanceof TomlError)) return { path, reason: error instanceof Error ? error.message : String(error) }
  const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '')
  return { path: `${path}:${error.line}:${error.column}`, reason: `this is no TOML: ${reason}` }
}

/** What was probably meant. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((name) => ({ name, steps: distance(word.toLowerCase(), name) }))
    .sort((one, other) => one.steps - other.steps)
  return best !== undefined && best.steps <= 2 ? best.name : undefined
}

/** Letters that are missing, too many or others. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (const [column, wanted] of [...other].entries()) {
      const changed = (row[column] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
