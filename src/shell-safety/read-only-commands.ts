/** Programs that only read, as data: with which arguments, and which subcommands of git. A program that is not listed may change something. */
import type { SimpleCommand } from './parse.ts'

interface Reader {
  readonly program: RegExp
  /** With such an argument it does more than read. */
  readonly never?: RegExp
  /** It writes to any further argument that is not an option. */
  readonly atMost?: number
  /** Its first argument that is not an option must match. */
  readonly first?: RegExp
}

const READERS: readonly Reader[] = [
  {
    program:
      /^(?:cat|head|tail|wc|ls|pwd|cd|echo|printf|true|false|test|\[|:|basename|dirname|realpath|readlink|stat|du|df|which|whoami|id|groups|uname|nproc|uptime|free|ps|pgrep|cut|tr|paste|join|comm|cmp|diff|nl|tac|rev|fold|fmt|expand|unexpand|seq|sleep|md5sum|b2sum|sha\d+sum|cksum|sum|strings|od|hexdump|jq|grep|egrep|fgrep|zgrep|zcat|getent|getconf|arch|tsort|look|column|tty|locale|type|expr)$/u,
  },
  { program: /^rg$/u, never: /^--(?:pre|hostname)/u },
  { program: /^find$/u, never: /^-(?:exec|ok|delete|fprint|fls)/u },
  { program: /^fd$/u, never: /^(?:-\w*[xX]|--exec)/u },
  { program: /^sort$/u, never: /^(?:-\w*[oTS]|--(?:o|c|t|b))/u },
  { program: /^uniq$/u, atMost: 1 },
  { program: /^tree$/u, never: /^(?:-\w*o|--output|-R)/u },
  { program: /^file$/u, never: /^(?:-\w*C|--compile)/u },
  { program: /^xxd$/u, never: /^-\w*r/u, atMost: 1 },
  { program: /^(?:base64|base32)$/u, never: /^-\w*o/u },
  { program: /^date$/u, never: /^(?:-\w*s|--set)/u },
  { program: /^hostname$/u, atMost: 0 },
  // Only a script that prints lines.
  { program: /^sed$/u, never: /^-(?!n$)/u, first: /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/u },
]

/** Subcommands of git that read, and the arguments that they may or may not have. */
const GIT_READERS: readonly { readonly verb: RegExp; readonly never?: RegExp; readonly only?: RegExp }[] = [
  {
    verb: /^(?:status|log|diff|show|blame|annotate|shortlog|whatchanged|rev-list|rev-parse|describe|name-rev|merge-base|ls-files|ls-tree|cat-file|diff-tree|diff-index|diff-files|show-ref|for-each-ref|count-objects|check-ignore|check-attr|var|version|grep)$/u,
    never: /^(?:-O|--(?:out|ext|textc|open|filters|contents|no-index))/u,
  },
  { verb: /^branch$/u, only: /^(?:-[avrl]+|--(?:all|remotes|list|show-current|verbose|sort=.*|format=.*))$/u },
  { verb: /^tag$/u, only: /^(?:-[ln]\d*|--(?:list|sort=.*|format=.*))$/u },
  { verb: /^remote$/u, only: /^(?:-v|--verbose)$/u },
  { verb: /^(?:stash|worktree)$/u, only: /^list$/u },
  { verb: /^reflog$/u, only: /^show$/u },
  { verb: /^config$/u, only: /^(?:--list|-l|--get\S*|--show-\S+|--(?:local|global|system)|[\w-]+\.[\w.-]+)$/u },
]

/** Variables that only change how a program formats its output. */
const FORMAT_VARIABLE = /^(?:LC_\w+|LANG|TZ|NO_COLOR|CLICOLOR|COLUMNS|TERM)=[\w.@:/-]*$/u

/** Whether the command is known to only read. */
export function isReadOnly({ words, assignments, overwrites, appends }: SimpleCommand): boolean {
  const [program = ':', ...args] = words
  const isWriting = [...overwrites, ...appends].some((target) => !isNoFile(target))
  if (isWriting || !assignments.every((one) => program === ':' || FORMAT_VARIABLE.test(one))) return false
  // A program named by a path or a variable may be any program.
  if (/[/$*?]/u.test(program) || args.some(holdsCommand)) return false
  return program === 'git' ? gitReads(args) : programReads(program, args)
}

/** Whether a word contains a command substitution, which the program itself might run. */
export function holdsCommand(word: string): boolean {
  return /\$\((?!\))|`/u.test(word)
}

/** Whether a redirection keeps nothing: to the terminal, to nowhere, or to an open descriptor. */
export function isNoFile(target: string): boolean {
  return /^(?:\/dev\/(?:null|stdout|stderr|tty)|&?\d+-?|-)$/u.test(target)
}

function programReads(program: string, args: readonly string[]): boolean {
  const reader = READERS.find((one) => one.program.test(program))
  if (reader === undefined || args.some((arg) => reader.never?.test(arg))) return false
  const given = args.filter((arg) => !arg.startsWith('-'))
  return given.length <= (reader.atMost ?? Infinity) && reader.first?.test(given[0] ?? '') !== false
}

function gitReads(args: readonly string[]): boolean {
  const [verb = '', ...rest] = args.filter((arg, at) => at > 0 || !/^(?:--no-pager|-P)$/u.test(arg))
  return GIT_READERS.some(
    (one) =>
      one.verb.test(verb) &&
      rest.every((arg) => one.never?.test(arg) !== true && (one.only === undefined || one.only.test(arg))) &&
      (verb !== 'config' || rest.filter((arg) => !arg.startsWith('-')).length <= 1),
  )
}
