/** Whether a command line may destroy what cannot be had back. Better asked once too often. */
import { carriedBy, isLine } from './carriers.ts'
import { codeDestroys, programDestroys, textDestroys } from './destroyers.ts'
import { gitDestroys } from './git.ts'
import { type SimpleCommand, parseLine } from './words.ts'

/** Words of the shell before a command. */
const KEYWORDS = new Set(['!', 'then', 'do', 'else', 'elif', '{', 'if', 'while', 'until'])
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'ash', 'rbash'])
/** What it is sent by a pipe or a substitution it runs. */
const INTERPRETERS = /^(?:python[\d.]*|node|perl|ruby|php|deno|bun|lua|osascript|Rscript)$/u
/** Starts itself twice, and each of them does. */
const FORK_BOMB = /(?<![\w:.])([\w:.]+)\s*\(\s*\)\s*\{[^}]*(?<![\w:.])\1\s*\|\s*\1\s*&/u

/** Whoever writes a longer line is asked; to look at it would keep everybody waiting. */
const LONGEST = 8_000
/** Lines in lines, programs that run programs. */
const DEEPEST = 8
/** Characters that are looked at for one line, with those that are looked at again. */
const MOST_LOOKED_AT = 30_000

export function destroys(line: string): boolean {
  return line.length > LONGEST || lineDestroys({ line, depth: 0, left: { characters: MOST_LOOKED_AT } })
}

interface Within {
  readonly line: string
  readonly depth: number
  /** How much more is looked at, in this line and all within it. */
  readonly left: { characters: number }
}

function lineDestroys(within: Within): boolean {
  if (within.depth > DEEPEST) return true
  const commands = parseLine(within.line)
  if (commands === undefined || FORK_BOMB.test(within.line)) return true
  return commands.some((command) => truncatesFile(command) || commandDestroys(command, within))
}

/** Where nothing is kept nothing is lost. */
function truncatesFile({ truncates }: SimpleCommand): boolean {
  return truncates.some((target) => !/^(?:\/dev\/(?:null|stdout|stderr|tty)|&?\d+|-)$/u.test(target))
}

type Sent = Pick<SimpleCommand, 'words' | 'sent'>

function commandDestroys({ words: given, sent }: Sent, within: Within): boolean {
  within.left.characters -= given.reduce((sum, word) => sum + word.length + 1, 0)
  if (within.depth > DEEPEST || within.left.characters < 0) return true
  const [first, ...rest] = withoutVariables(given)
  if (first === undefined) return false
  if (KEYWORDS.has(first)) return commandDestroys({ words: rest, ...(sent !== undefined && { sent }) }, within)
  const program = first.slice(first.lastIndexOf('/') + 1)
  return (
    isUnknown(program) ||
    (program === 'git' && gitDestroys(rest)) ||
    programDestroys(program, rest) ||
    textDestroys(program, `${rest.join(' ')}\n${sent ?? within.line}`) ||
    shellDestroys(program, { words: rest, ...(sent !== undefined && { sent }) }, within) ||
    languageDestroys(program, rest, sent) ||
    carriedBy(program, rest).some((words) => carriedDestroys({ words, ...(sent !== undefined && { sent }) }, within))
  )
}

/** Which program that is, only the shell will know. */
function isUnknown(program: string): boolean {
  return /[$*?]|\{.|\[.+\]/u.test(program)
}

function carriedDestroys(command: Sent, { line, depth, left }: Within): boolean {
  const [first = ''] = command.words
  const deeper = { line, depth: depth + 1, left }
  if (isLine(first)) return lineDestroys({ ...deeper, line: command.words.join(' ') })
  return commandDestroys(command, deeper)
}

/** Without a file it runs what it is sent; with `-c` the next word. */
function shellDestroys(program: string, { words, sent }: Sent, { depth, left }: Within): boolean {
  if (!SHELLS.has(program) || words.some((word) => /^--(?:version|help)$/u.test(word))) return false
  const inLine = (line: string) => isUnseen(line) || lineDestroys({ line, depth: depth + 1, left })
  const at = words.findIndex((word) => /^-\w*c\w*$/u.test(word))
  if (at >= 0) return inLine(words.slice(at + 1).find((word) => !/^[-+]/u.test(word)) ?? '$')
  if (sent !== undefined) return inLine(sent)
  const file = words.find((word) => !word.startsWith('-'))
  return file === undefined || isUnseen(file) || words.some((word) => /^-\w*s\w*$/u.test(word))
}

/** Nothing but what another command says, or a variable holds. */
function isUnseen(text: string): boolean {
  return /^\s*(?:\$\w*(?:\(\)|\{\})?\s*)+$/u.test(text)
}

function languageDestroys(program: string, words: readonly string[], sent: string | undefined): boolean {
  if (!INTERPRETERS.test(program)) return false
  if (/^(?:perl|ruby)$/u.test(program) && words.some((word) => /^-[pnlaw0sE]*i/u.test(word))) return true
  if (words.some((word) => isUnseen(word) && word.includes('('))) return true
  const isGiven = words.some((word) => /^(?:-\w*[ceErp]|--eval|--print|--execute|eval|-[pnlaw0]*[eE])$/u.test(word))
  if (isGiven && (words.some(isUnseen) || codeDestroys(words.join(' ')))) return true
  // Nothing to run but what it is sent: a text that stands in the line, or one that nobody has seen.
  const isSent = words.every((word) => /^-[uBEsSi]?$/u.test(word))
  return sent === undefined ? isSent : codeDestroys(sent) || isUnseen(sent)
}

function withoutVariables(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^\w+\+?=/u.test(word))
  return first < 0 ? [] : words.slice(first)
}
