/** The part of a command line that an "always" may be said of, so that it never allows what nobody has thought of. */

/** Words without anything that the shell would make something else of. */
const PLAIN_LINE = /^(?:[\w.,:=@%+/ -]|"[\w.,:=@%+/ ()-]*"|'[\w.,:=@%+/ ()-]*')+$/u
/** Nobody reads more than that. */
const LONGEST = 4_000

/** How a line may begin that is known to mean the same whatever follows, and what may follow or must not. */
interface Row {
  readonly begins: RegExp
  readonly only?: RegExp
  readonly never?: RegExp
}

/** Of every other program only the very same line is the same thing: `cat a.txt` says nothing of `cat` and another file. */
const ROWS: readonly Row[] = [
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

/** A path that leads out of where the command runs. */
const ELSEWHERE = /(?:^|[\s=:"'])(?:\/|(?:[^\s"'=:]*\/)?\.\.(?:[\s/"']|$))/u

/** `npm test`, `git status`: a few programs whose verb says what they do; of everything else the whole line. */
export function signatureOf(line: string): string {
  const whole = line.trim()
  if (whole.length > LONGEST || !PLAIN_LINE.test(whole)) return whole
  for (const { begins, only, never } of ROWS) {
    const [signature] = begins.exec(whole) ?? []
    if (signature === undefined) continue
    const rest = whole.slice(signature.length)
    const isSame = (only?.test(rest) ?? true) && never?.test(rest) !== true && !ELSEWHERE.test(rest)
    return isSame ? signature : whole
  }
  return whole
}
