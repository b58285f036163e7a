/** What ignore files leave out, as git understands them: deeper ones have the last word. */
import ignore, { type Ignore } from 'ignore'
import { usableRules } from '../text/ignore-rules.ts'

export const IGNORE_FILES = ['.gitignore', '.ignore']

export interface Ignoring {
  /** Of a way from the root on, with slashes. */
  ignores(way: string, isDirectory: boolean): boolean
  /** With the rules that stand in the directory at `base`. */
  below(base: string, rules: readonly string[]): Ignoring
}

interface Rules {
  readonly base: string
  readonly matcher: Ignore
}

/** Where nothing says otherwise. */
const USUALLY = ['.git', '.hg', '.svn', '.jj', 'node_modules', '__pycache__', '.venv', '.DS_Store']

export function usuallyIgnored(): Ignoring {
  return ignoring([{ base: '', matcher: ignore().add(USUALLY) }])
}

export const NOTHING_IGNORED: Ignoring = { ignores: () => false, below: () => NOTHING_IGNORED }

function ignoring(all: readonly Rules[]): Ignoring {
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
      return own.length === 0 ? this : ignoring([...all, ...own])
    },
  }
}
