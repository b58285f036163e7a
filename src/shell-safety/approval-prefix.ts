/** The part of a command line that an "always allow" applies to: never more than the user can foresee. */

/** Words that the shell does not expand. */
const PLAIN_LINE = /^(?:[\w.,:=@%+/ -]|"[\w.,:=@%+/ ()-]*"|'[\w.,:=@%+/ ()-]*')+$/u
/** A longer line is only ever allowed as a whole. */
const MAX_LINE_CHARS = 4_000

/** A beginning that means the same whatever follows it, and what may follow or must not. */
interface PrefixRule {
  readonly begins: RegExp
  readonly only?: RegExp
  readonly never?: RegExp
}

/** For every other program only the whole line counts: `cat a.txt` does not allow `cat` of another file. */
const PREFIX_RULES: readonly PrefixRule[] = [
  {
    begins: /^(?:npm|pnpm|yarn) (?:run [A-Za-z][\w:.-]*|test|ci|ls|list|outdated)(?= |$)/u,
    only: /^(?: (?:-s|--silent|--if-present))*(?: --(?: .*)?)?$/u,
  },
  {
    begins: /^git (?:status|diff|log|show|add|commit|branch|switch|blame|ls-files|rev-parse)(?= |$)/u,
    never: / --(?:ou|ext|textc|no-in|exec|conten|templ|pathspec-f)/u,
  },
  {
    begins: /^cargo (?:build|check|test|clippy|fmt|bench|doc)(?= |$)/u,
    never: / (?:--config|--manifest-path|--target-dir|--artifact-dir|--out-dir|-Z|-C)/u,
  },
  {
    begins: /^go (?:build|test|vet|fmt|list)(?= |$)/u,
    never: / --?(?:exec|toolexec|vettool|C|o|modfile|overlay|pkgdir)\b/u,
  },
  { begins: /^make [A-Za-z][\w:.-]*(?= |$)/u, only: /^(?: -[jks]\d*)*$/u },
  { begins: /^node --test(?= |$)/u, only: /^(?: [\w.][\w./-]*)*$/u },
  { begins: /^python3? -m (?:pytest|unittest)(?= |$)/u, only: /^(?: (?:-[qvxs]+|[\w.][\w./:-]*))*$/u },
]

/** A path that leads out of the working directory. */
const OUTSIDE_PATH = /(?:^|[\s=:"'])(?:\/|(?:[^\s"'=:]*\/)?\.\.(?:[\s/"']|$))/u

/** `npm test`, `git status` for a few programs whose subcommand says what they do; for everything else the whole line. */
export function approvalPrefix(line: string): string {
  const whole = line.trim()
  if (whole.length > MAX_LINE_CHARS || !PLAIN_LINE.test(whole)) return whole
  for (const { begins, only, never } of PREFIX_RULES) {
    const [prefix] = begins.exec(whole) ?? []
    if (prefix === undefined) continue
    const rest = whole.slice(prefix.length)
    const isSame = (only?.test(rest) ?? true) && never?.test(rest) !== true && !OUTSIDE_PATH.test(rest)
    return isSame ? prefix : whole
  }
  return whole
}
