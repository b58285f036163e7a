/** The words that can be completed at the cursor of a command line, read from the table of commands. */
import type { CommandRow, OptionRow } from '../../runtime/command.ts'

export interface Candidate {
  readonly value: string
  readonly summary: string
}

/** Values that only the state and the settings know. */
export type ValueKind = 'session' | 'agent' | 'model'

export interface Candidates {
  readonly candidates: readonly Candidate[]
  readonly kind?: ValueKind | undefined
}

export interface CommandTable {
  readonly commands: readonly CommandRow[]
  /** `parley` without the name of a command. */
  readonly chat: CommandRow
}

/** `words` are those after `parley`; the last one is being typed, and may be empty. */
export function completionsFor(words: readonly string[], { commands, chat }: CommandTable): Candidates {
  const before = words.slice(0, -1)
  const typed = words.at(-1) ?? ''
  const place = placeAfter(before, commands, chat)
  if (place.awaits !== undefined) return { candidates: [], kind: valueKind(place.awaits, place.path) }
  const { row, inner } = place
  if (typed.startsWith('-')) return { candidates: row.options.flatMap(flagsOf) }
  // The name of a subcommand stands where the first argument would.
  const named = place.positionals === 0 ? inner.map(nameAndSummary) : []
  return { candidates: named, kind: valueKind(argumentOf(row, place.positionals), place.path) }
}

interface TypedSoFar {
  readonly row: CommandRow
  /** The commands that may follow. */
  readonly inner: readonly CommandRow[]
  readonly path: string
  /** Arguments so far. */
  readonly positionals: number
  /** The placeholder of the value that an option waits for. */
  readonly awaits: string | undefined
}

function placeAfter(before: readonly string[], commands: readonly CommandRow[], chat: CommandRow): TypedSoFar {
  let place: TypedSoFar = { row: chat, inner: commands, path: '', positionals: 0, awaits: undefined }
  for (const word of before) place = placeBehind(place, word)
  return place
}

function placeBehind(place: TypedSoFar, word: string): TypedSoFar {
  if (place.awaits !== undefined) return { ...place, awaits: undefined }
  if (word.startsWith('-')) return { ...place, awaits: placeholderOf(word, place.row.options) }
  const row = place.positionals === 0 ? place.inner.find(({ usage }) => commandName(usage) === word) : undefined
  if (row === undefined) return { ...place, positionals: place.positionals + 1 }
  return {
    row,
    inner: row.commands ?? [],
    path: `${place.path} ${word}`.trim(),
    positionals: 0,
    awaits: undefined,
  }
}

function commandName(usage: string): string {
  return usage.split(' ', 1)[0] ?? ''
}

function nameAndSummary({ usage, summary }: CommandRow): Candidate {
  return { value: commandName(usage), summary }
}

function flagsOf({ flags, summary, hidden }: OptionRow): readonly Candidate[] {
  const [, long] = /(--[a-z-]+)/u.exec(flags) ?? []
  return hidden === true || long === undefined ? [] : [{ value: long, summary }]
}

/** `dir` of `--cwd <dir>`; undefined for a flag without a value. */
function placeholderOf(word: string, options: readonly OptionRow[]): string | undefined {
  const row = options.find(({ flags }) => flags.split(/[ ,]+/u).includes(word))
  if (word === '--server') return 'server'
  const [, placeholder] = /<([^>]+)>/u.exec(row?.flags ?? '') ?? []
  return placeholder
}

/** The placeholder of the argument of this number; the last one may be repeated. */
function argumentOf({ usage }: CommandRow, at: number): string | undefined {
  const all = [...usage.matchAll(/[<[]([^>\]]+)[>\]]/gu)].map(([, name = '']) => name)
  return (all[at] ?? all.findLast((name) => name.endsWith('...')))?.replace('...', '')
}

function valueKind(placeholder: string | undefined, path: string): ValueKind | undefined {
  switch (placeholder) {
    case 'id':
    case 'session':
      return path.startsWith('agents') || path.startsWith('devices') ? undefined : 'session'
    case 'agent':
      return 'agent'
    case 'name':
      return path.startsWith('agents') ? 'agent' : undefined
    case 'model':
      return 'model'
    default:
      return undefined
  }
}
