/** Assesses a command line before it runs: it only reads, it may change something, or it may destroy data. Works on the text alone. */
import { wrappedCommands, isLine } from './command-wrappers.ts'
import { codeDestroys, programDestroys, textDestroys } from './destructive-commands.ts'
import { gitDestroys, gitSettings } from './git-effects.ts'
import { type OptionUse, loadsCode, optionUses, variableUse } from './option-effects.ts'
import { type SimpleCommand, parseLine } from './parse.ts'
import { isDeep } from './named-paths.ts'
import { holdsCommand, isNoFile, isReadOnly } from './read-only-commands.ts'

export interface CommandAssessment {
  /** `changes`: not known to only read. `destroys`: it may destroy data that cannot be recovered, or its effect is unknown. */
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** The reason, shown to the user when the effect is `destroys`. */
  readonly why?: string
  /** Options and variables with which a program does more than its name says: an allow rule must name each of them. */
  readonly extras: readonly string[]
  /** Its words, as far as they may name paths; see `UNKNOWN`. */
  readonly shapes: readonly string[]
  /** It walks directories. */
  readonly isDeep: boolean
}

/** Shell keywords that stand before a command. */
const KEYWORDS = new Set(['!', 'then', 'do', 'else', 'elif', '{', 'if', 'while', 'until'])
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'ash', 'rbash'])
/** Programs that run the code that a pipe or a substitution sends them. */
const INTERPRETERS = /^(?:python[\d.]*|node|perl|ruby|php|deno|bun|lua|osascript|Rscript)$/u
/** A function that starts itself twice. */
const FORK_BOMB = /(?<![\w:.])([\w:.]+)\s*\(\s*\)\s*\{[^}]*(?<![\w:.])\1\s*\|\s*\1\s*&/u

/** The user is asked about a longer line; parsing it would block all other clients. */
const MAX_LINE_CHARS = 8_000
/** Lines within lines, and programs that run programs. */
const MAX_DEPTH = 8
/** Characters examined for one line, counting those that are examined again. */
const MAX_EXAMINED_CHARS = 30_000

const TOO_LONG = `it is longer than Parley reads (${MAX_LINE_CHARS} characters)`
const UNREADABLE = 'Parley cannot read this line as every shell would'
const TOO_DEEP = 'it is nested too deeply to be read'
const UNKNOWN_PROGRAM = 'the line does not show which program it runs'
const MAY_DESTROY = 'it may destroy data that cannot be recovered'

export function assessCommandLine(line: string): CommandAssessment {
  if (line.length > MAX_LINE_CHARS) return unreadable(TOO_LONG)
  const parsed = parseLine(line)
  if (parsed === undefined) return unreadable(UNREADABLE)
  const { commands, shapes } = parsed
  const found = { extras: commands.flatMap(extrasOf), shapes, isDeep: commands.some(isDeep) }
  const why = whyParsed(commands, { line, depth: 0, left: { characters: MAX_EXAMINED_CHARS } })
  if (why !== undefined) return { effect: 'destroys', why, ...found }
  return { effect: commands.every(isReadOnly) ? 'reads' : 'changes', ...found }
}

function unreadable(why: string): CommandAssessment {
  return { effect: 'destroys', why, extras: [], shapes: [], isDeep: true }
}

function extrasOf({ words, assignments }: SimpleCommand): readonly string[] {
  const [program = '', ...rest] = words
  const name = programName(program)
  const isFindRunning = name === 'find' || name === 'fd' ? rest.filter((word) => /^-(?:exec|ok|x|X)/u.test(word)) : []
  const isGitSet = name === 'git' ? rest.filter((word, at) => /^(?:-c|--config)/u.test(word) && at < 8) : []
  return [
    ...optionUses(name, rest).map((use) => use.name),
    ...assignments.map((one) => one.slice(0, one.indexOf('='))),
    ...isFindRunning,
    ...isGitSet,
  ]
}

interface Within {
  readonly line: string
  readonly depth: number
  /** The rest of MAX_EXAMINED_CHARS, shared by the line and all lines within it. */
  readonly left: { characters: number }
}

/** Why the user must be asked, or undefined. */
type Why = string | undefined

function whyLine(within: Within): Why {
  if (within.depth > MAX_DEPTH) return TOO_DEEP
  const parsed = parseLine(within.line)
  return parsed === undefined ? UNREADABLE : whyParsed(parsed.commands, within)
}

function whyParsed(commands: readonly SimpleCommand[], within: Within): Why {
  if (FORK_BOMB.test(within.line)) return MAY_DESTROY
  return first(commands, (command) => whyOverwrites(command) ?? whyCommand(command, within))
}

function first<Item>(items: readonly Item[], whyOf: (item: Item) => Why): Why {
  for (const item of items) {
    const why = whyOf(item)
    if (why !== undefined) return why
  }
  return undefined
}

function whyOverwrites({ overwrites }: SimpleCommand): Why {
  const target = overwrites.find((one) => !isNoFile(one))
  return target === undefined ? undefined : `it writes over ${shortTarget(target)}`
}

function shortTarget(target: string): string {
  return target === '' ? 'a file' : target.slice(0, 200)
}

type CommandParts = Pick<SimpleCommand, 'words' | 'stdinText'> & Partial<Pick<SimpleCommand, 'assignments'>>

function whyCommand({ words: given, stdinText, assignments = [] }: CommandParts, within: Within): Why {
  within.left.characters -= given.reduce((sum, word) => sum + word.length + 1, 0)
  if (within.depth > MAX_DEPTH || within.left.characters < 0) return TOO_DEEP
  const set = first([...assignments, ...given], (word) => whyVariable(word, within))
  if (set !== undefined) return set
  const [program, ...rest] = withoutVariables(given)
  if (program === undefined) return undefined
  const all = { words: rest, ...(stdinText !== undefined && { stdinText }) }
  // The parser takes `time` for the keyword, but with options before the command it is the program.
  if (program.startsWith('-')) return first(wrappedCommands('time', given), (words) => whyWrapped({ words }, within))
  if (KEYWORDS.has(program)) return whyCommand(all, within)
  const name = programName(program)
  // The program is known only at run time.
  if (/[$*?]|\{.|\[.+\]/u.test(name)) return UNKNOWN_PROGRAM
  return (
    whyProgram(name, all, within) ??
    whySubscripts(name, rest, within) ??
    first(optionUses(name, rest), (use) => whyUse(name, use, within)) ??
    whyShell(name, all, within) ??
    first(wrappedCommands(name, rest), (words) => whyWrapped({ ...all, words }, within))
  )
}

/** Builtins that expand their arguments again: the `$(…)` in a quoted subscript runs. */
const READING_AGAIN =
  /^(?:printf|test|\[|read|let|declare|typeset|local|export|readonly|unset|wait|mapfile|readarray)$/u

function whySubscripts(program: string, words: readonly string[], within: Within): Why {
  if (!READING_AGAIN.test(program)) return undefined
  return first(words.filter(holdsCommand), (word) => whyDeeper(`: "${word.replaceAll('"', '')}"`, within))
}

function programName(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}

function whyProgram(program: string, { words, stdinText }: CommandParts, within: Within): Why {
  const isDestructive =
    programDestroys(program, words) || textDestroys(program, `${words.join(' ')}\n${stdinText ?? within.line}`)
  if (isDestructive) return `${program}: ${MAY_DESTROY}`
  if (languageDestroys(program, words, stdinText))
    return `${program}: its code may destroy data, or its effect is unknown`
  return program === 'git' ? whyGit(words, within) : undefined
}

function whyGit(words: readonly string[], within: Within): Why {
  if (gitDestroys(words)) return `git: ${MAY_DESTROY}`
  const { lines, loads } = gitSettings(words)
  if (loads) return 'git runs a program that the line does not show'
  return first(lines, (line) => whyDeeper(`${line} {}`, within))
}

function whyUse(program: string, { effect, name, value }: OptionUse, within: Within): Why {
  if (effect === 'runs') return whyDeeper(value, within)
  return isNoFile(value) ? undefined : `${program} ${name} writes over ${shortTarget(value)}`
}

function whyVariable(word: string, within: Within): Why {
  if (loadsCode(word)) return `${word.slice(0, word.indexOf('='))} makes programs load code that the line does not show`
  const use = variableUse(word)
  return use === undefined ? undefined : whyDeeper(`${use.value} {}`, within)
}

/** A line within the line. */
function whyDeeper(line: string, { depth, left }: Within): Why {
  left.characters -= line.length
  return whyLine({ line, depth: depth + 1, left })
}

function whyWrapped(command: CommandParts, { line, depth, left }: Within): Why {
  const [program = ''] = command.words
  const deeper = { line, depth: depth + 1, left }
  if (isLine(program)) return whyLine({ ...deeper, line: command.words.join(' ') })
  return whyCommand(command, deeper)
}

/** A shell runs the word after `-c`, else a file, else its standard input. */
function whyShell(program: string, { words, stdinText }: CommandParts, { depth, left }: Within): Why {
  if (!SHELLS.has(program) || words.some((word) => /^--(?:version|help)$/u.test(word))) return undefined
  const inLine = (line: string): Why => (isUnknown(line) ? UNKNOWN_PROGRAM : whyLine({ line, depth: depth + 1, left }))
  const at = words.findIndex((word) => /^-\w*c\w*$/u.test(word))
  if (at >= 0) return inLine(words.slice(at + 1).find((word) => !/^[-+]/u.test(word)) ?? '$')
  if (stdinText !== undefined) return inLine(stdinText)
  const file = words.find((word) => !word.startsWith('-'))
  const isBlind = file === undefined || isUnknown(file) || words.some((word) => /^-\w*s\w*$/u.test(word))
  return isBlind ? `${program} runs what the line does not show` : undefined
}

/** The text consists only of variables and the output of commands. */
function isUnknown(text: string): boolean {
  return /^\s*(?:\$\w*(?:\(\)|\{\})?\s*)+$/u.test(text)
}

function languageDestroys(program: string, words: readonly string[], stdinText: string | undefined): boolean {
  if (!INTERPRETERS.test(program)) return false
  if (/^(?:perl|ruby)$/u.test(program) && words.some((word) => /^-[pnlaw0sE]*i/u.test(word))) return true
  if (words.some((word) => isUnknown(word) && word.includes('('))) return true
  const isGiven = words.some((word) =>
    /^(?:-\w*[ceErp]|--(?:eval|print|execute)(?:=.*)?|eval|-[pnlaw0]*[eE])$/su.test(word),
  )
  if (isGiven && (words.some(isUnknown) || codeDestroys(words.join(' ')))) return true
  // It runs its standard input: a text that stands in the line, or one that the line does not show.
  const readsStdin = words.every((word) => /^-[uBEsSi]?$/u.test(word))
  return stdinText === undefined ? readsStdin : codeDestroys(stdinText) || isUnknown(stdinText)
}

function withoutVariables(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !/^\w+\+?=/u.test(word))
  return start < 0 ? [] : words.slice(start)
}
