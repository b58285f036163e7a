/** What a command line does, as far as it can be told from the line: it only reads, it may change something, or it destroys. */
import { carriedBy, isLine } from './command-wrappers.ts'
import { codeDestroys, programDestroys, textDestroys } from './destructive-commands.ts'
import { gitDestroys, gitSettings } from './git.ts'
import { type OptionUse, loadsCode, optionUses, variableUse } from './option-effects.ts'
import { type SimpleCommand, parseLine } from './parse.ts'
import { isDeep } from './places.ts'
import { holdsCommand, isNoFile, onlyReads } from './readers.ts'

export interface Judgement {
  /** `changes`: not known to only read. `destroys`: it may destroy what cannot be had back, or it cannot be told what it does. */
  readonly effect: 'reads' | 'changes' | 'destroys'
  /** What is said to people where it destroys. */
  readonly why?: string
  /** Options and variables with which a program does more than its name says: an allow rule must name each of them. */
  readonly extras: readonly string[]
  /** Its words as they may name places; see `UNKNOWN`. */
  readonly shapes: readonly string[]
  /** It goes through directories. */
  readonly isDeep: boolean
}

/** Words of the shell before a command. */
const KEYWORDS = new Set(['!', 'then', 'do', 'else', 'elif', '{', 'if', 'while', 'until'])
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'ash', 'rbash'])
/** What it is sent by a pipe or a substitution it runs. */
const INTERPRETERS = /^(?:python[\d.]*|node|perl|ruby|php|deno|bun|lua|osascript|Rscript)$/u
/** Starts itself twice, and each of them does. */
const FORK_BOMB = /(?<![\w:.])([\w:.]+)\s*\(\s*\)\s*\{[^}]*(?<![\w:.])\1\s*\|\s*\1\s*&/u

/** The user is asked about a longer line; to read it would keep every other client waiting. */
const LONGEST = 8_000
/** Lines in lines, programs that run programs. */
const DEEPEST = 8
/** Characters that are looked at for one line, with those that are looked at again. */
const MOST_LOOKED_AT = 30_000

const TOO_LONG = `it is longer than Parley reads (${LONGEST} characters)`
const UNREADABLE = 'Parley cannot read this line as every shell would'
const TOO_DEEP = 'it is nested too deeply to be read'
const UNSEEN = 'which program it runs cannot be told from the line'
const MAY_DESTROY = 'it may destroy what cannot be had back'

export function judgeLine(line: string): Judgement {
  if (line.length > LONGEST) return unreadable(TOO_LONG)
  const parsed = parseLine(line)
  if (parsed === undefined) return unreadable(UNREADABLE)
  const { commands, shapes } = parsed
  const found = { extras: commands.flatMap(extrasOf), shapes, isDeep: commands.some(isDeep) }
  const why = whyParsed(commands, { line, depth: 0, left: { characters: MOST_LOOKED_AT } })
  if (why !== undefined) return { effect: 'destroys', why, ...found }
  return { effect: commands.every(onlyReads) ? 'reads' : 'changes', ...found }
}

function unreadable(why: string): Judgement {
  return { effect: 'destroys', why, extras: [], shapes: [], isDeep: true }
}

function extrasOf({ words, assignments }: SimpleCommand): readonly string[] {
  const [program = '', ...rest] = words
  const name = nameOf(program)
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
  /** How much more is looked at, in this line and all within it. */
  readonly left: { characters: number }
}

/** Why the user must be asked, or undefined. */
type Why = string | undefined

function whyLine(within: Within): Why {
  if (within.depth > DEEPEST) return TOO_DEEP
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
  return target === undefined ? undefined : `it writes over ${named(target)}`
}

function named(target: string): string {
  return target === '' ? 'a file' : target.slice(0, 200)
}

type Sent = Pick<SimpleCommand, 'words' | 'sent'> & Partial<Pick<SimpleCommand, 'assignments'>>

function whyCommand({ words: given, sent, assignments = [] }: Sent, within: Within): Why {
  within.left.characters -= given.reduce((sum, word) => sum + word.length + 1, 0)
  if (within.depth > DEEPEST || within.left.characters < 0) return TOO_DEEP
  const set = first([...assignments, ...given], (word) => whyVariable(word, within))
  if (set !== undefined) return set
  const [program, ...rest] = withoutVariables(given)
  if (program === undefined) return undefined
  const all = { words: rest, ...(sent !== undefined && { sent }) }
  // What the parser takes for the keyword `time` may be the program, with options before the command.
  if (program.startsWith('-')) return first(carriedBy('time', given), (words) => whyCarried({ words }, within))
  if (KEYWORDS.has(program)) return whyCommand(all, within)
  const name = nameOf(program)
  // Which program that is, only the shell will know.
  if (/[$*?]|\{.|\[.+\]/u.test(name)) return UNSEEN
  return (
    whyProgram(name, all, within) ??
    whySubscripts(name, rest, within) ??
    first(optionUses(name, rest), (use) => whyUse(name, use, within)) ??
    whyShell(name, all, within) ??
    first(carriedBy(name, rest), (words) => whyCarried({ ...all, words }, within))
  )
}

/** Builtins that read their arguments as the shell reads a line: the `$(…)` in a quoted subscript runs. */
const READING_AGAIN =
  /^(?:printf|test|\[|read|let|declare|typeset|local|export|readonly|unset|wait|mapfile|readarray)$/u

function whySubscripts(program: string, words: readonly string[], within: Within): Why {
  if (!READING_AGAIN.test(program)) return undefined
  return first(words.filter(holdsCommand), (word) => whyDeeper(`: "${word.replaceAll('"', '')}"`, within))
}

function nameOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1)
}

function whyProgram(program: string, { words, sent }: Sent, within: Within): Why {
  const isDestructive =
    programDestroys(program, words) || textDestroys(program, `${words.join(' ')}\n${sent ?? within.line}`)
  if (isDestructive) return `${program}: ${MAY_DESTROY}`
  if (languageDestroys(program, words, sent)) return `${program}: what its code does cannot be told, or destroys`
  return program === 'git' ? whyGit(words, within) : undefined
}

function whyGit(words: readonly string[], within: Within): Why {
  if (gitDestroys(words)) return `git: ${MAY_DESTROY}`
  const { lines, loads } = gitSettings(words)
  if (loads) return 'git is told to run what the line does not show'
  return first(lines, (line) => whyDeeper(`${line} {}`, within))
}

function whyUse(program: string, { effect, name, value }: OptionUse, within: Within): Why {
  if (effect === 'runs') return whyDeeper(value, within)
  return isNoFile(value) ? undefined : `${program} ${name} writes over ${named(value)}`
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

function whyCarried(command: Sent, { line, depth, left }: Within): Why {
  const [program = ''] = command.words
  const deeper = { line, depth: depth + 1, left }
  if (isLine(program)) return whyLine({ ...deeper, line: command.words.join(' ') })
  return whyCommand(command, deeper)
}

/** Without a file it runs what it is sent; with `-c` the next word. */
function whyShell(program: string, { words, sent }: Sent, { depth, left }: Within): Why {
  if (!SHELLS.has(program) || words.some((word) => /^--(?:version|help)$/u.test(word))) return undefined
  const inLine = (line: string): Why => (isUnseen(line) ? UNSEEN : whyLine({ line, depth: depth + 1, left }))
  const at = words.findIndex((word) => /^-\w*c\w*$/u.test(word))
  if (at >= 0) return inLine(words.slice(at + 1).find((word) => !/^[-+]/u.test(word)) ?? '$')
  if (sent !== undefined) return inLine(sent)
  const file = words.find((word) => !word.startsWith('-'))
  const isBlind = file === undefined || isUnseen(file) || words.some((word) => /^-\w*s\w*$/u.test(word))
  return isBlind ? `${program} runs what the line does not show` : undefined
}

/** Nothing but what another command says, or a variable holds. */
function isUnseen(text: string): boolean {
  return /^\s*(?:\$\w*(?:\(\)|\{\})?\s*)+$/u.test(text)
}

function languageDestroys(program: string, words: readonly string[], sent: string | undefined): boolean {
  if (!INTERPRETERS.test(program)) return false
  if (/^(?:perl|ruby)$/u.test(program) && words.some((word) => /^-[pnlaw0sE]*i/u.test(word))) return true
  if (words.some((word) => isUnseen(word) && word.includes('('))) return true
  const isGiven = words.some((word) =>
    /^(?:-\w*[ceErp]|--(?:eval|print|execute)(?:=.*)?|eval|-[pnlaw0]*[eE])$/su.test(word),
  )
  if (isGiven && (words.some(isUnseen) || codeDestroys(words.join(' ')))) return true
  // Nothing to run but what it is sent: a text that stands in the line, or one that nobody has seen.
  const isSent = words.every((word) => /^-[uBEsSi]?$/u.test(word))
  return sent === undefined ? isSent : codeDestroys(sent) || isUnseen(sent)
}

function withoutVariables(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !/^\w+\+?=/u.test(word))
  return start < 0 ? [] : words.slice(start)
}
