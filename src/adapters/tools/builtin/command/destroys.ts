/** Whether a command line may destroy what cannot be had back. Better asked once too often. */
import { type SimpleCommand, parseLine } from './words.ts'

/** A program and what of its arguments makes it destroy; without that it always does. */
interface Row {
  readonly program: RegExp
  readonly when?: RegExp
  readonly unless?: RegExp
  /** What it does may be sent to it, so the whole line is looked at. */
  readonly isSent?: true
}

/** Arguments are one text, each between blanks. */
const ROWS: readonly Row[] = [
  { program: /^rm$/u, when: / (?:-\w*[rRf]|--recursive|--force)|[*?$]/u },
  {
    program:
      /^(?:shred|wipefs|mkfs(?:\..+)?|mke2fs|mkswap|cryptsetup|fdisk|sfdisk|sgdisk|parted|blkdiscard|dd|truncate|srm|rimraf)$/u,
  },
  // With the rights of another user nothing is safe.
  { program: /^(?:sudo|doas|su|pkexec|runuser)$/u },
  { program: /^(?:cp|mv|install)$/u, when: / \/dev\//u },
  { program: /^(?:shutdown|reboot|halt|poweroff|telinit|init)$/u },
  { program: /^systemctl$/u, when: / (?:poweroff|reboot|halt|kexec|emergency|rescue) /u },
  { program: /^(?:chmod|chown|chgrp|setfacl)$/u, when: / (?:-\w*R|--recursive)/u },
  { program: /^(?:killall|pkill)$/u },
  { program: /^kill$/u, when: / -1 /u },
  { program: /^find$/u, when: / -delete | -(?:exec|execdir|ok|okdir) (?:\S*\/)?(?:rm|shred|mv|sh|bash|truncate) /u },
  {
    program: /^git$/u,
    when: / reset .*--(?:hard|merge)|^ (?:-[cC] \S+ )*rm (?:.* )?(?:-\w*f\w* |--force )| clean(?!.*(?: -\w*n| --dry-run))/u,
  },
  { program: /^git$/u, when: / push\b.*(?: -\w*[fd]| --force| --mirror| --delete| --prune| [+:])/u },
  {
    program: /^git$/u,
    when: / checkout (?:.* )?(?:-- |-f |--force |\. )| restore (?!.*--staged)| switch .*(?:--discard-changes|-f |--force)/u,
  },
  { program: /^git$/u, when: / branch .*(?:-D |--delete .*--force|-d .*-f )| tag .*(?:-d |--delete )/u },
  {
    program: /^git$/u,
    when: / stash (?:drop|clear)| reflog (?:expire|delete)| gc .*--prune| filter-(?:branch|repo)| update-ref .*-d | worktree remove .*(?:-f|--force)/u,
  },
  { program: /^rsync$/u, when: / --delete/u },
  { program: /^tee$/u, unless: / (?:-\w*a|--append)/u },
  { program: /^crontab$/u, when: / -r /u },
  { program: /^(?:userdel|groupdel|deluser|dropdb|dropuser|lvremove|vgremove|pvremove)$/u },
  { program: /^(?:zfs|zpool|terraform|tofu|pulumi|vagrant)$/u, when: / -{0,2}destroy /u },
  {
    program: /^(?:docker|podman)$/u,
    when: / prune| (?:rm|rmi) .*(?:-f|--force)| volume rm| down .*(?:-v|--volumes)| system reset| (?:run|exec) .* (?:rm|dd|shred) /u,
  },
  { program: /^(?:kubectl|oc)$/u, when: / delete | drain | replace .*--force/u },
  { program: /^helm$/u, when: / (?:uninstall|delete) /u },
  { program: /^(?:npm|pnpm|yarn|cargo|twine|gem)$/u, when: / (?:publish|unpublish|yank|upload|push) /u },
  { program: /^gh$/u, when: / (?:delete|archive) | api .*(?:-X|--method) ?(?:DELETE|PUT|PATCH)/iu },
  { program: /^(?:aws|gcloud|az|gsutil|doctl)$/u, when: / (?:rm|rb|delete\S*|terminate\S*|destroy|purge) / },
  { program: /^redis-cli$/u, when: / (?:flushall|flushdb|del) /iu },
  { program: /^curl$/u, when: / (?:-X ?|--request[ =])DELETE /iu },
  {
    program: /^(?:psql|mysql|mariadb|sqlite3|sqlcmd|mongo(?:sh)?|clickhouse-client)$/u,
    when: /\b(?:drop|truncate|delete\s+from)\b|dropDatabase|deleteMany/iu,
    isSent: true,
  },
  {
    program: /^(?:python[\d.]*|node|perl|ruby|php|deno|bun|lua)$/u,
    when: /rmtree|unlink|rmSync|rmdir|removedirs|os\.remove|File\.delete|Deno\.remove|rm_rf|FileUtils|\bsystem\b|execSync|child_process|subprocess/u,
    isSent: true,
  },
  { program: /^[gm]?awk$/u, when: /\bsystem\s*\(/u },
  // What they run cannot be told from here.
  { program: /^(?:eval|source|\.)$/u },
]

/** Words of the shell before a command. */
const KEYWORDS = new Set(['!', 'then', 'do', 'else', 'elif', '{', 'if', 'while', 'until', 'coproc'])
/** Programs that run what follows them. */
const CARRIERS = new Set(
  `sudo doas pkexec runuser env command exec nohup time nice ionice chrt taskset setsid stdbuf timeout xargs parallel builtin chroot unshare
  nsenter unbuffer busybox toybox watch script flock strace trap function npx bunx pnpx uv poetry pipenv ssh`.split(
    /\s+/u,
  ),
)
/** They hand over names that the line does not show. */
const FEEDERS = new Set(['xargs', 'parallel'])
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'ash'])
/** What it is sent by a pipe or a substitution it runs. */
const INTERPRETERS = /^(?:python[\d.]*|node|perl|ruby|php|deno|bun|lua)$/u

/** Whoever writes a longer line is asked; to look at it would keep everybody waiting. */
const LONGEST = 8_000

export function destroys(line: string): boolean {
  return line.length > LONGEST || destroysWithin({ line, depth: 0 })
}

const DEEPEST = 4
/** Whoever writes more words than that is asked. */
const MOST_CARRIED = 200

interface Within {
  readonly line: string
  /** Lines in lines. */
  readonly depth: number
}

function destroysWithin(within: Within): boolean {
  if (within.depth > DEEPEST) return true
  return parseLine(within.line).commands.some(
    (command) => truncatesFile(command) || wordsDestroy(command.words, within),
  )
}

function wordsDestroy(given: readonly string[], within: Within): boolean {
  const words = withoutVariables(given)
  const rest = words.slice(1)
  if (KEYWORDS.has(words[0] ?? '')) return wordsDestroy(rest, within)
  const program = programOf(words)
  if (!CARRIERS.has(program)) return runDestroys(words, within)
  return runDestroys(words, within) || carriedDestroys(program, rest, within)
}

/** Options of the carrier may take values, so any word after it may be the program; or the whole line, where it has blanks. */
function carriedDestroys(carrier: string, rest: readonly string[], within: Within): boolean {
  if (rest.length > MOST_CARRIED) return true
  const first = rest.findIndex((word) => !/^(?:-|\w+=)/u.test(word))
  return rest.some((word, start) => {
    if (start !== first && /^(?:\.|[$`])/u.test(word)) return false
    if (/\s/u.test(word)) return destroysWithin({ line: word, depth: within.depth + 1 })
    const words = withoutVariables(rest.slice(start))
    return (FEEDERS.has(carrier) && programOf(words) === 'rm') || runDestroys(words, within)
  })
}

function runDestroys(words: readonly string[], within: Within): boolean {
  const [first = '', ...rest] = words
  // Which program that is, only the shell will know.
  if (/[$`]/u.test(first)) return within.depth === 0 || words.length > 1
  const program = programOf(words)
  if (SHELLS.has(program) && shellDestroys(rest, within)) return true
  if (INTERPRETERS.test(program) && rest.every((word) => /^-[uBEsSi]?$/u.test(word))) {
    // Nothing to run but what it is sent: a text that stands in the line, or one that nobody has seen.
    if (!within.line.includes('<<')) return true
  }
  const args = ` ${rest.join(' ')} `
  return ROWS.some(
    (row) =>
      row.program.test(program) &&
      (row.when?.test(row.isSent === true ? within.line : args) ?? true) &&
      row.unless?.test(args) !== true,
  )
}

function programOf([first = '']: readonly string[]): string {
  return first.slice(first.lastIndexOf('/') + 1)
}

/** Without a file to run it runs what it is sent; with `-c` the next word. */
function shellDestroys(words: readonly string[], { depth }: Within): boolean {
  const at = words.findIndex((word) => /^-\w*c$/u.test(word))
  const line = words[at + 1]
  // A variable or a substitution: nobody knows what that is before it runs.
  if (at >= 0) return line === undefined || /^[$`]/u.test(line) || destroysWithin({ line, depth: depth + 1 })
  return words.every((word) => word.startsWith('-'))
}

/** Where nothing is kept nothing is lost. */
function truncatesFile({ truncates }: SimpleCommand): boolean {
  return truncates.some((target) => !/^(?:\/dev\/(?:null|stdout|stderr|tty)|&?\d+|-)$/u.test(target))
}

function withoutVariables(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^\w+=/u.test(word))
  return first < 0 ? [] : words.slice(first)
}
