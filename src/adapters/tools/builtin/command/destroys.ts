/** Whether a command line destroys what cannot be had back. Better asked once too often. */
import { type SimpleCommand, parseLine } from './words.ts'

/** A program and what of its arguments makes it destroy; without that it always does. */
interface Row {
  readonly program: RegExp
  readonly when?: RegExp
  readonly unless?: RegExp
}

/** Arguments are one text, each between blanks. */
const ROWS: readonly Row[] = [
  { program: /^rm$/u, when: / (?:-\w*[rRf]|--recursive|--force)|[*?$]/u },
  { program: /^(?:shred|wipefs|mkfs(?:\..+)?|mke2fs|fdisk|sfdisk|sgdisk|parted|blkdiscard|dd|truncate|srm)$/u },
  { program: /^(?:shutdown|reboot|halt|poweroff|telinit|init)$/u },
  { program: /^systemctl$/u, when: / (?:poweroff|reboot|halt|kexec|emergency|rescue) /u },
  { program: /^(?:chmod|chown|chgrp|setfacl)$/u, when: / (?:-\w*R|--recursive)/u },
  { program: /^(?:killall|pkill)$/u },
  { program: /^kill$/u, when: / -1 /u },
  { program: /^find$/u, when: / -delete | -(?:exec|execdir|ok|okdir) (?:\S*\/)?(?:rm|shred|mv|sh|bash|truncate) /u },
  { program: /^git$/u, when: / reset .*--hard| clean(?!.*(?: -\w*n| --dry-run))/u },
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
  { program: /^(?:zfs|zpool|terraform|tofu|pulumi|vagrant)$/u, when: / destroy /u },
  { program: /^(?:docker|podman)$/u, when: / prune| (?:rm|rmi) .*(?:-f|--force)| volume rm| down .*(?:-v|--volumes)/u },
  { program: /^(?:kubectl|oc)$/u, when: / delete | drain | replace .*--force/u },
  { program: /^helm$/u, when: / (?:uninstall|delete) /u },
  { program: /^(?:npm|pnpm|yarn|cargo|twine|gem)$/u, when: / (?:publish|unpublish|yank|upload|push) /u },
  { program: /^gh$/u, when: / (?:delete|archive) | api .*(?:-X|--method) ?(?:DELETE|PUT|PATCH)/iu },
  { program: /^(?:aws|gcloud|az|gsutil|doctl)$/u, when: / (?:rm|rb|delete\S*|terminate\S*|destroy|purge) / },
  { program: /^redis-cli$/u, when: / (?:flushall|flushdb|del) /iu },
  {
    program: /^(?:psql|mysql|mariadb|sqlite3|sqlcmd|mongosh?|clickhouse-client)$/u,
    when: /\b(?:drop|truncate|delete\s+from)\b|dropDatabase|deleteMany/iu,
  },
  {
    program: /^(?:python\d?|node|perl|ruby|php|deno|bun|lua)$/u,
    when: /rmtree|unlink|rmSync|rmdir|removedirs|os\.remove|rm_rf|FileUtils|\bsystem\b|execSync|child_process|subprocess/u,
  },
  // What they run cannot be told from here.
  { program: /^(?:eval|source|\.)$/u },
]

/** Programs that run what follows them. */
const CARRIERS = new Set(
  `sudo doas env command exec nohup time nice ionice setsid stdbuf timeout xargs parallel builtin chroot unbuffer busybox ! then do
  else { if while until`.split(/\s+/u),
)
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'ash', 'su', 'ssh'])

/** Whoever writes a longer line is asked; to look at it would keep everybody waiting. */
const LONGEST = 8_000

export function destroys(line: string): boolean {
  return line.length > LONGEST || destroysWithin(line, 0)
}

const DEEPEST = 4
/** Whoever writes more words than that is asked. */
const MOST_CARRIED = 200

function destroysWithin(line: string, depth: number): boolean {
  if (depth > DEEPEST) return true
  return parseLine(line).commands.some((command) => truncatesFile(command) || wordsDestroy(command.words, depth))
}

function wordsDestroy(given: readonly string[], depth: number): boolean {
  const words = withoutVariables(given)
  const rest = words.slice(1)
  if (!CARRIERS.has(programOf(words))) return runDestroys(words, depth)
  // Its own options may take values, so any word after it may be the program.
  return rest.length > MOST_CARRIED || rest.some((_, start) => runDestroys(withoutVariables(rest.slice(start)), depth))
}

function runDestroys(words: readonly string[], depth: number): boolean {
  const [first = '', ...rest] = words
  // Which program that is, only the shell will know.
  if (/[$`]/u.test(first)) return depth === 0 || words.length > 1
  const program = programOf(words)
  if (SHELLS.has(program) && shellDestroys(rest, depth)) return true
  const args = ` ${rest.join(' ')} `
  return ROWS.some(
    (row) => row.program.test(program) && (row.when?.test(args) ?? true) && row.unless?.test(args) !== true,
  )
}

function programOf([first = '']: readonly string[]): string {
  return first.slice(first.lastIndexOf('/') + 1)
}

/** Without a file to run it runs what it is sent; with `-c` the next word. Of another machine it is what follows its name. */
function shellDestroys(words: readonly string[], depth: number): boolean {
  const at = words.findIndex((word) => /^-\w*c$/u.test(word))
  if (at >= 0) return destroysWithin(words.slice(at + 1).join(' '), depth + 1)
  const operand = words.findIndex((word) => !word.startsWith('-'))
  return operand < 0 || destroysWithin(words.slice(operand + 1).join(' '), depth + 1)
}

/** Where nothing is kept nothing is lost. */
function truncatesFile({ truncates }: SimpleCommand): boolean {
  return truncates.some((target) => !/^(?:\/dev\/(?:null|stdout|stderr|tty)|&?\d+|-)$/u.test(target))
}

function withoutVariables(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !/^\w+=/u.test(word))
  return first < 0 ? [] : words.slice(first)
}
