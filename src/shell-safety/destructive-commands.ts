/** Programs that destroy data, always or with certain arguments, as data. */

interface DestructiveCommand {
  readonly program: RegExp
  /** Arguments that make it destroy. Matched against all arguments as one text, each between blanks; blanks inside one are `_`. */
  readonly when?: RegExp
  readonly unless?: RegExp
}

const DESTRUCTIVE_COMMANDS: readonly DestructiveCommand[] = [
  {
    program: /^(?:rm|unlink|srm|wipe|scrub|shred|rimraf|del-cli|trash-empty)$/u,
    when: / \S/u,
    unless: /^ --(?:help|version) $/u,
  },
  {
    program:
      /^(?:wipefs|mkfs(?:\..+)?|mke2fs|mkswap|cryptsetup|fdisk|sfdisk|sgdisk|parted|blkdiscard|dd|truncate|sponge|ed|ex)$/u,
    unless: /^ --(?:help|version) $/u,
  },
  // Runs with the rights of another user.
  { program: /^(?:sudo|doas|su|pkexec|runuser)$/u },
  { program: /^(?:cp|mv|install)$/u, when: / \/dev\//u },
  { program: /^(?:sed|gsed)$/u, when: / (?:-[nErsuz]*i\w*|--in-place\S*) /u },
  // Commands of its script that run a line or write a file.
  { program: /^(?:sed|gsed)$/u, when: /(?:^|[;{}\d$/ ])_*[eWw]_\S|\/[gpiIm\d]*[ew](?=[ ;}_])/u },
  { program: /^(?:vi|vim|nvim|emacs)$/u, when: / (?:-c|-es|-S|--cmd|\+\S+|--batch|--eval) /u },
  { program: /^tee$/u, unless: / (?:-\w*a\w*|--append) |^ (?:\/dev\/(?:null|stderr|tty) )?$/u },
  { program: /^find$/u, when: / -(?:delete|fprint0?|fprintf|fls) /u },
  { program: /^rsync$/u, when: / --(?:del|remove-source)/u, unless: / (?:-\w*n\w*|--dry-run) /u },
  { program: /^(?:tar|gtar|bsdtar)$/u, when: / --remove-files /u },
  { program: /^zip$/u, when: / (?:-\w*m\w*|--move|-\w*d|--delete) /u },
  { program: /^(?:chmod|chown|chgrp|setfacl|chattr)$/u, when: / (?:-\w*R\w*|--recursive) /u },
  { program: /^crontab$/u, unless: /^ (?:-u \S+ )?-l $/u },
  // The machine and its services.
  { program: /^(?:shutdown|reboot|halt|poweroff|telinit|init|swapoff)$/u },
  {
    program: /^systemctl$/u,
    when: / (?:stop|disable|mask|kill|isolate|poweroff|reboot|halt|kexec|emergency|rescue) /u,
  },
  { program: /^service$/u, when: / stop /u },
  { program: /^(?:killall|pkill|skill)$/u },
  // The output of another command, every process, or process 1.
  { program: /^kill$/u, when: / -1 $| (?:-1|1) (?!\S)|\$\(/u, unless: /^ -1 [1-9]\d+ $/u },
  { program: /^fuser$/u, when: / -\w*k/u },
  { program: /^(?:ip6?tables|ip6?tables-restore)$/u, unless: / (?:-[LSCh]|--list|--list-rules|--check|--help)/u },
  { program: /^nft$/u, when: / (?:flush|delete|destroy) /u },
  { program: /^ufw$/u, when: / (?:disable|reset|delete) /u },
  { program: /^ip$/u, when: / (?:del|delete|flush|down) /u },
  { program: /^(?:userdel|groupdel|deluser|delgroup|lvremove|vgremove|pvremove)$/u },
  {
    program: /^(?:hdparm|nvme|mdadm|diskutil|btrfs|zfs|zpool|gio)$/u,
    when: /erase|format|zero-|delete|destroy|remove /iu,
  },
  {
    program: /^(?:apt|apt-get|aptitude|yum|dnf|zypper|brew|apk|snap|flatpak|pkg|port)$/u,
    when: / (?:remove|purge|autoremove|autopurge|erase|uninstall|del|zap) /u,
  },
  { program: /^(?:dpkg|rpm|pacman)$/u, when: / (?:-[rPeR]\w*|--remove|--purge|--erase) /u },
  // Shared resources, such as package registries.
  { program: /^(?:npm|pnpm|yarn|cargo|twine|gem|poetry|vsce)$/u, when: /^ (?:publish|unpublish|yank|upload|push) /u },
  {
    program: /^(?:docker|podman|nerdctl|docker-compose)$/u,
    when: / prune |^ (?:\S+ )?(?:rm|rmi|kill) |^ system reset /,
  },
  { program: /^(?:docker|podman|nerdctl|docker-compose)$/u, when: / down .*(?:-v|--volumes|--rmi)/u },
  { program: /^(?:kubectl|oc)$/u, when: / (?:delete|drain) | replace .*--force/u },
  { program: /^helm$/u, when: / (?:uninstall|delete) /u },
  {
    program: /^(?:terraform|tofu|pulumi|vagrant|cdk|sst|eksctl)$/u,
    when: / -{0,2}(?:destroy|auto-approve) | state rm | (?:up|apply) .*(?:-y|--yes) /u,
    unless: / plan /u,
  },
  {
    program: /^(?:heroku|fly|flyctl|vercel|netlify|firebase|serverless|sls|wrangler|railway|supabase)$/u,
    when: /[ :](?:destroy|delete|remove|rm|reset|deleteall) /u,
  },
  { program: /^gh$/u, when: / (?:delete|archive) | api .*(?:-X|--method)[ =]?(?:DELETE|PUT|PATCH) /iu },
  {
    program: /^(?:aws|gcloud|az|gsutil|doctl|s3cmd|rclone|mc)$/u,
    when: / (?:rm|rb|del|purge|destroy|cleanup|sync .*--delete|(?:batch-)?delete\S*|terminate\S*) /u,
  },
  { program: /^curl$/u, when: / (?:-\w*X|--request)[ =]?DELETE /iu },
  { program: /^wget$/u, when: / --method[ =]DELETE /iu },
  { program: /^(?:http|https|xh)$/u, when: / DELETE /u },
  { program: /^(?:pwsh|powershell|cmd)(?:\.exe)?$/iu, when: /Remove-|Clear-|\b(?:del|rd|rm|erase|format)\b/iu },
  // Databases, by other means than a query.
  { program: /^(?:dropdb|dropuser)$/u },
  { program: /^mysqladmin$/u, when: / drop /u },
  { program: /^redis-cli$/u, when: / (?:flushall|flushdb|del|unlink|getdel|shutdown|eval) /iu },
  { program: /^(?:rails|rake)$/u, when: / db:(?:drop|reset|purge|truncate|migrate:reset)/u },
  { program: /^prisma$/u, when: / migrate reset | --(?:accept-data-loss|force-reset) /u },
  {
    program: /^(?:python[\d.]*|php)$/u,
    when: /manage\.py (?:flush|reset_db) |artisan (?:migrate:(?:fresh|refresh|reset)|db:wipe) /u,
  },
  { program: /^dotnet$/u, when: / database drop /u },
  // Other version control systems.
  { program: /^svn$/u, when: / (?:revert|cleanup) /u },
  { program: /^hg$/u, when: / (?:strip|purge|revert|rollback) | up(?:date)? .*(?:-C|--clean) /u },
  { program: /^jj$/u, when: / (?:abandon|restore) /u },
  // They run text that is known only at run time.
  { program: /^(?:eval|source|\.|at|batch)$/u },
  { program: /^(?:expect|tclsh|wish)$/u, when: / -c /u },
  { program: /^gdb$/u, when: / --?(?:ex|eval-command|command|x)/u },
  { program: /^(?:enable|hash)$/u, when: / -[fp] /u },
  { program: /^bind$/u, when: / -x /u },
  { program: /^g?awk$/u, when: / (?:-i|--include)[= ]inplace/u },
  // They write their second file.
  { program: /^uniq$/u, when: /^(?: -\S+)* [^- ]\S* [^- ]\S* $/u },
  { program: /^xxd$/u, when: /^(?: -\S+)* [^- ]\S* [^- ]\S* $/u },
]

export function programDestroys(program: string, args: readonly string[]): boolean {
  const text = ` ${args.map((arg) => `${arg.trim().replaceAll(/\s+/gu, '_')} `).join('')}`
  return DESTRUCTIVE_COMMANDS.some(
    (row) => row.program.test(program) && (row.when?.test(text) ?? true) && row.unless?.test(text) !== true,
  )
}

/** Programs that run a query or script from their arguments or standard input. */
interface ScriptedProgram {
  readonly program: RegExp
  readonly destructive: RegExp
}

const SCRIPTED_PROGRAMS: readonly ScriptedProgram[] = [
  {
    program: /^(?:psql|mysql|mariadb|sqlite3|sqlcmd|mongo(?:sh)?|clickhouse-client|duckdb|cqlsh)$/u,
    destructive:
      /\b(?:drop|truncate|delete\s+from)\b|drop(?:Database|Index)?\(|(?:delete(?:One|Many)|remove)\(|\\[!o]|\.(?:shell|system|output|once|save|backup|clone)\b|into\s+(?:out|dump)file/iu,
  },
  {
    program: /^[gmn]?awk$/u,
    destructive:
      /\bsystem\s*\(|"\s*\|\s*&?\s*getline|\|\s*"\s*(?:\S*\/)?(?:\w*sh|rm|xargs|tee)\b|print[^|;}"]*(?:"[^"]*"[^|;}"]*)*>\s*"(?!\/dev\/)/u,
  },
]

export function textDestroys(program: string, text: string): boolean {
  return SCRIPTED_PROGRAMS.some((row) => row.program.test(program) && row.destructive.test(text))
}

/** Code that deletes files, or runs other programs. */
const CODE =
  /rmtree|unlink|\brm(?:Sync|_rf|_r)?\s*\(|rmdir|removedirs|os\.remove|\btruncate|File\.delete|Deno\.remove|FileUtils|\bsystem\b|execSync|child_process|subprocess|popen|os\.(?:exec|spawn|kill)|b64decode|decode_base64|'base64'|"base64"|\batob\(/u
/** Code that overwrites a file: by the function's name, or by the mode in which it opens a file. */
const WRITING =
  /writeFile|createWriteStream|write_(?:text|bytes)|File\.write|IO\.write|file_put_contents|(?:Deno|Bun)\.write|os\.(?:rename|replace|truncate|symlink|link)\b|\brename(?:Sync)?\s*\(|shutil\.|copyFile|cpSync|\bf?open(?:Sync)?\s*\([^)]*,\s*(?:mode\s*=\s*)?["'](?:[rbtUx]*[wx]|r[bt]*\+)|\bopen\b[^;]*["']\s*\+?>(?!>)|dofile|os\.rename|io\.open\s*\([^)]*["']w/u
/** Code that evaluates text as code. */
const EVALUATING =
  /\b(?:eval|exec|compile|execfile|Function|runInThisContext|instance_eval|loadstring)\s*\(|__import__|importlib|getattr\s*\(|do shell script|\bvm\.run|\bspawn(?:Sync)?\s*\(|process\.binding|\bqx\b|%x|IO\.popen|Kernel\.|`/u

export function codeDestroys(text: string): boolean {
  return CODE.test(text) || WRITING.test(text) || EVALUATING.test(text)
}
