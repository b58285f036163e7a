/**
 * The destructive effects of git commands (lost uncommitted changes, unreachable commits, remote branches), and the
 * programs that git runs.
 */

/** A subcommand and the arguments that make it destroy, matched as one text with each between blanks. */
interface DestructiveSubcommand {
  readonly verb: RegExp
  readonly when?: RegExp
  readonly unless?: RegExp
}

const DESTRUCTIVE_SUBCOMMANDS: readonly DestructiveSubcommand[] = [
  { verb: /^reset$/u, when: / --(?:h|k|me)\w*/u },
  { verb: /^clean$/u, unless: / (?:-\w*n\w*|--dry-run|-h|--help) /u },
  {
    verb: /^push$/u,
    when: / (?:-\w*[fd]\w*|--forc\S*|--del\w*|--mir\w*|--pru\w*|[+:]\S+) /u,
    unless: / (?:-\w*n\w*|--dry-run) /u,
  },
  { verb: /^checkout$/u, when: / (?:--|-\w*[fB]\w*|--force|--ours|--theirs|\.{1,2}\/?|:\/) / },
  // A branch or a file? A name with an extension is taken for a file, and so is a word after a commit.
  {
    verb: /^checkout$/u,
    when: / \S*\.[A-Za-z]\w{0,5} |^(?: -\S+)* [^- ]\S* [^- ]/u,
    unless: / (?:-\w*[bt]|--orphan|--track\S*) /u,
  },
  { verb: /^restore$/u, when: / (?:--worktree|-\w*W\w*) / },
  { verb: /^restore$/u, unless: / (?:--staged|-\w*S\w*) /u },
  { verb: /^switch$/u, when: / (?:--disc\S*|--force\S*|-\w*[fC]\w*) /u },
  { verb: /^branch$/u, when: / (?:-\w*[Df]\w*|--force) /u },
  { verb: /^tag$/u, when: / (?:-\w*[df]|--delete|--force) /u },
  { verb: /^stash$/u, when: /^ (?:drop|clear) /u },
  { verb: /^archive$/u, when: / -o/u },
  { verb: /^bundle$/u, when: /^ create /u },
  { verb: /^reflog$/u, when: / (?:expire|delete) /u },
  { verb: /^gc$/u, when: / --prune/u },
  { verb: /^prune$/u, unless: / (?:-n|--dry-run) /u },
  { verb: /^filter-(?:branch|repo)$/u },
  { verb: /^update-ref$/u, when: / (?:-d|--stdin) /u },
  { verb: /^(?:worktree|submodule)$/u, when: / (?:remove|deinit) .*(?:-\w*f\w* |--force )/u },
  { verb: /^rm$/u, when: / (?:-\w*f\w*|--force) /u },
  { verb: /^read-tree$/u, when: / (?:--reset|-u) /u },
  { verb: /^checkout-index$/u, when: / (?:-\w*f\w*|--force) /u },
]

/** Options before the subcommand that take a value. */
const VALUED = /^(?:-[cC]|--git-dir|--work-tree|--namespace|--exec-path)$/u

export function gitDestroys(args: readonly string[]): boolean {
  const [verb = '', ...rest] = withoutGlobal(args)
  const text = ` ${rest.map((arg) => arg.replaceAll(/\s+/gu, '_')).join(' ')} `
  // An alias may be any command.
  if (args.some((arg) => /^(?:--config-env=)?alias\./u.test(arg))) return true
  return DESTRUCTIVE_SUBCOMMANDS.some(
    (row) => row.verb.test(verb) && (row.when?.test(text) ?? true) && row.unless?.test(text) !== true,
  )
}

/** Settings whose value git runs as a command. */
const RUNNING_SETTINGS =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|diff\.external|sequence\.editor|alias\..+|pager\..+|credential(?:\..+)?\.helper|gpg(?:\..+)?\.program|uploadpack\.packobjectshook|interactive\.difffilter|.+\.(?:textconv|clean|smudge|process|driver|cmd|command|uploadpack|receivepack|vcs|proxycommand))$/iu
/** Settings that name files or directories whose content git runs. */
const LOADING_SETTINGS = /^(?:core\.hookspath|include(?:if\..+)?\.path|init\.templatedir)$/iu

/** `-c KEY=VALUE` and `git config KEY VALUE`: the lines that they make git run, and whether git runs code that the line does not show. */
export function gitSettings(args: readonly string[]): { readonly lines: readonly string[]; readonly loads: boolean } {
  const given = args.flatMap((word, at): readonly (readonly [string, string])[] => {
    const [, key, value = ''] = /^(?:-c|--config=|--config-env=)?([\w.*:/@-]+\.[\w-]+)=([\s\S]*)$/u.exec(word) ?? []
    if (key !== undefined) return [[key, value]]
    return /^[\w*:/@-]+(?:\.[^=]+)?\.[\w-]+$/u.test(word) && args.includes('config') ? [[word, args[at + 1] ?? '']] : []
  })
  const isElsewhere = args.some((word) => word.startsWith('--exec-path='))
  const isFromEnvironment = args.some((word) => word.startsWith('--config-env'))
  return {
    lines: given.flatMap(([key, value]) => (RUNNING_SETTINGS.test(key) ? [value.replace(/^!/u, '')] : [])),
    loads:
      isElsewhere ||
      given.some(([key]) => LOADING_SETTINGS.test(key) || (isFromEnvironment && RUNNING_SETTINGS.test(key))),
  }
}

/** Commands that git runs for each commit or submodule. */
export function runByGit(args: readonly string[]): readonly (readonly string[])[] {
  const [verb = '', ...rest] = withoutGlobal(args)
  if (!/^(?:rebase|bisect|submodule)$/u.test(verb)) return []
  const at = rest.findIndex((word) => /^(?:-x|--exec|run|foreach|--recursive)$/u.test(word))
  const inOption = rest.flatMap((word) => (word.startsWith('--exec=') ? [[word.slice(7)]] : []))
  return at < 0 ? inOption : [rest.slice(at + 1), ...inOption]
}

function withoutGlobal(args: readonly string[]): readonly string[] {
  let at = 0
  while (args[at]?.startsWith('-') === true) at += VALUED.test(args[at] ?? '') ? 2 : 1
  return args.slice(at)
}
