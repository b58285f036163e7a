/** Ignore files, with the meaning that git gives them: the rules of deeper directories have the last word. */

import ignore, { type Ignore } from 'ignore'

export const IGNORE_FILES = ['.gitignore', '.ignore']

export interface IgnoreRules {
  /** Of a way from the root on, with slashes. */
  ignores(way: string, isDirectory: boolean): boolean
  /** With the rules that stand in the directory at `base`. */
  below(base: string, rules: readonly string[]): IgnoreRules
}

interface DirectoryRules {
  readonly base: string
  readonly matcher: Ignore
}

/** Where nothing says otherwise. */
const ALWAYS_IGNORED = ['.git', '.hg', '.svn', '.jj', 'node_modules', '__pycache__', '.venv', '.DS_Store']

export function defaultIgnoreRules(): IgnoreRules {
  return combined([{ base: '', matcher: ignore().add(ALWAYS_IGNORED) }])
}

export const NOTHING_IGNORED: IgnoreRules = { ignores: () => false, below: () => NOTHING_IGNORED }

function combined(all: readonly DirectoryRules[]): IgnoreRules {
  return {
    ignores(way, isDirectory) {
      return all.reduce((isIgnored, { base, matcher }) => {
        const rest = base === '' ? way : way.slice(base.length + 1)
        const said = matcher.test(isDirectory ? `${rest}/` : rest)
        return said.ignored || (isIgnored && !said.unignored)
      }, false)
    },
    below(base, rules) {
      const own = rules.map((text) => ({ base, matcher: ignore().add(usableRules(text)) }))
      return own.length === 0 ? this : combined([...all, ...own])
    },
  }
}

/** Lines with a pattern. Real files have at most a few hundred. */
const MAX_LINES = 1_000
const MAX_LINE_CHARS = 1_000
/** `**` with names on both sides; each may stand for any number of directories. */
const MAX_JUMPS = 2

/** A longer ignore file is not used. */
export const MAX_IGNORE_FILE_BYTES = 256 * 1024

/** `text` without lines that take too long to match, and without lines after the first thousand. */
export function usableRules(text: string): string {
  const lines = text.split(/\r?\n/u).filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return lines
    .slice(0, MAX_LINES)
    .filter((line) => line.length <= MAX_LINE_CHARS && jumpsIn(line) <= MAX_JUMPS)
    .join('\n')
}

function jumpsIn(line: string): number {
  const parts = line.replace(/\/+$/u, '').split('/')
  return parts.slice(0, -1).filter((part) => /^\\?\*{2,}$/u.test(part)).length
}
