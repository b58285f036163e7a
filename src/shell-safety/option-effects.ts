/** Options and variables that make a program run another program or write a file, as data. */

export type OptionEffect = 'runs' | 'writes'

export interface OptionUse {
  readonly effect: OptionEffect
  /** As it would stand in a rule: `--output`, `-o`, `GIT_PAGER`. */
  readonly name: string
  /** The line that is run, or the file that is written; empty where the program chooses it. */
  readonly value: string
}

interface OptionRule {
  readonly program: RegExp
  readonly effect: OptionEffect
  /** Full names; programs accept any unambiguous beginning. */
  readonly long?: readonly string[]
  /** Single-letter options, which may be combined in one word. */
  readonly short?: string
  /** The beginning of a word, for programs whose options cannot be combined: `-o`. */
  readonly starts?: RegExp
  /** It takes no value. */
  readonly isAlone?: true
  /** The program appends file names that the line does not show. */
  readonly isFed?: true
  /** The words of the command are separated by commas. */
  readonly isList?: true
}

const PACKERS = /^(?:tar|gtar|bsdtar)$/u
const COMPILERS =
  /^(?:\S*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ld|as|rustc|ghc|gfortran|ldc2|dmd|tcc|nasm)(?:-[\d.]+)?$/u

const OPTION_RULES: readonly OptionRule[] = [
  {
    program: PACKERS,
    effect: 'runs',
    short: 'IF',
    long: ['use-compress-program', 'to-command', 'info-script', 'new-volume-script', 'rsh-command', 'rmt-command'],
  },
  { program: PACKERS, effect: 'runs', long: ['checkpoint-action'] },
  { program: /^sort$/u, effect: 'runs', long: ['compress-program'] },
  { program: /^split$/u, effect: 'runs', long: ['filter'] },
  { program: /^rsync$/u, effect: 'runs', short: 'e', long: ['rsh', 'rsync-path'] },
  { program: /^(?:scp|sftp)$/u, effect: 'runs', starts: /^-S/u, isFed: true },
  {
    program: /^(?:ssh|scp|sftp)$/u,
    effect: 'runs',
    starts: /^(?:-o\s*)?(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]/iu,
  },
  { program: /^zip$/u, effect: 'runs', starts: /^-TT/u, long: ['unzip-command'] },
  { program: /^rg$/u, effect: 'runs', long: ['pre', 'hostname-bin'], isFed: true },
  { program: /^(?:man|bat|delta)$/u, effect: 'runs', starts: /^-(?:P|H(?!$))/u, long: ['pager', 'html'] },
  { program: /^(?:less|more|most)$/u, effect: 'runs', starts: /^\+\+?[!|]/u },
  { program: /^fzf$/u, effect: 'runs', long: ['preview', 'bind'] },
  { program: COMPILERS, effect: 'runs', starts: /^-wrapper/u, isList: true },
  { program: /^(?:xterm|konsole|alacritty|kitty|urxvt)$/u, effect: 'runs', starts: /^-e/u },
  { program: /^tcpdump$/u, effect: 'runs', starts: /^-z/u },
  { program: /^(?:nc|ncat|netcat)$/u, effect: 'runs', short: 'ec', long: ['exec', 'sh-exec'] },
  { program: /^start-stop-daemon$/u, effect: 'runs', short: 'xa', long: ['exec', 'startas'] },
  { program: /^(?:mapfile|readarray|complete|compgen)$/u, effect: 'runs', starts: /^-C/u, isFed: true },
  { program: /^socat$/u, effect: 'runs', starts: /^(?:EXEC|SYSTEM|SHELL):/iu },
  { program: /^(?:npm|pnpm|yarn)$/u, effect: 'runs', long: ['script-shell'] },
  { program: /^make$/u, effect: 'runs', long: ['eval'] },
  { program: /^git$/u, effect: 'runs', long: ['upload-pack', 'receive-pack', 'extcmd'] },
  { program: /^git$/u, effect: 'runs', starts: /^(?:-O(?!rderfile)|--open-files-in-pager)/u, isFed: true },
  { program: /^git$/u, effect: 'runs', starts: /^ext::/u },
  // They run programs that the repository's configuration names.
  { program: /^git$/u, effect: 'runs', starts: /^--(?:ext-d|textc|exec-p|git-dir|work-tree)[\w-]*/u, isAlone: true },
  { program: /^git$/u, effect: 'writes', long: ['output'] },
  {
    program: /^(?:sort|shuf|gpg|iconv|xmllint|time|tree|pandoc|dot|bison|flex|patch|cargo-expand|yacc|etags|ctags)$/u,
    effect: 'writes',
    short: 'o',
    long: ['output'],
  },
  { program: /^(?:strace|ltrace)$/u, effect: 'writes', short: 'o', long: ['output'] },
  {
    program: /^curl$/u,
    effect: 'writes',
    short: 'oDc',
    long: ['output', 'dump-header', 'cookie-jar', 'trace', 'trace-ascii', 'stderr', 'libcurl', 'etag-save', 'hsts'],
  },
  {
    program: /^curl$/u,
    effect: 'writes',
    short: 'OJ',
    long: ['remote-name', 'remote-name-all', 'remote-header-name'],
    isAlone: true,
  },
  { program: /^wget$/u, effect: 'writes', short: 'Oo', long: ['output-document', 'output-file', 'save-cookies'] },
  { program: COMPILERS, effect: 'writes', starts: /^-o/u },
  { program: /^openssl$/u, effect: 'writes', starts: /^-(?:out|keyout)/u },
  { program: /^(?:tsc|esbuild|rollup)$/u, effect: 'writes', long: ['outFile', 'outfile', 'file'] },
  { program: /^pg_dump(?:all)?$/u, effect: 'writes', short: 'f', long: ['file'] },
  { program: /^(?:mysqldump|mariadb-dump)$/u, effect: 'writes', short: 'r', long: ['result-file'] },
  { program: /^tcpdump$/u, effect: 'writes', short: 'w' },
  { program: /^less$/u, effect: 'writes', short: 'oO', long: ['log-file', 'LOG-FILE'] },
  { program: /^ln$/u, effect: 'writes', short: 'f', long: ['force'], isAlone: true },
  {
    program: /^(?:gzip|gunzip|bzip2|bunzip2|xz|unxz|zstd|unzstd|lz4|compress|uncompress)$/u,
    effect: 'writes',
    short: 'f',
    long: ['force'],
    isAlone: true,
  },
  { program: /^unzip$/u, effect: 'writes', short: 'o', isAlone: true },
  { program: /^(?:7z|7za|7zr)$/u, effect: 'writes', starts: /^-(?:y|aoa)$/u, isAlone: true },
  { program: /^yq$/u, effect: 'writes', short: 'i', long: ['inplace', 'in-place'], isAlone: true },
  { program: /^ffmpeg$/u, effect: 'writes', starts: /^-y$/u, isAlone: true },
]

/** Every option among the arguments that has such an effect. */
export function optionUses(program: string, args: readonly string[]): readonly OptionUse[] {
  const rows = OPTION_RULES.filter((row) => row.program.test(program))
  const found = rows.flatMap((row) => args.flatMap((_word, at) => usesAt(row, args, at)))
  return PACKERS.test(program) ? [...found, ...packed(args)] : found
}

function usesAt(row: OptionRule, args: readonly string[], at: number): readonly OptionUse[] {
  const word = args[at] ?? ''
  const next = args[at + 1] ?? ''
  const use = (name: string, given: string): OptionUse => {
    const value = row.isAlone ? '' : row.isList ? given.replaceAll(',', ' ') : given
    return { effect: row.effect, name, value: row.isFed && value !== '' ? `${value} {}` : value }
  }
  if (row.starts?.test(word)) {
    const [begun = ''] = row.starts.exec(word) ?? []
    const rest = word.slice(begun.length).replace(/^[=:]/u, '')
    return [use(begun, rest === '' ? next : rest)]
  }
  const [, long, , value = next] = /^--([\w-]{2,})(=([\s\S]*))?$/u.exec(word) ?? []
  const full = long === undefined ? undefined : row.long?.find((one) => one.startsWith(long))
  if (full !== undefined) return [use(`--${full}`, value.replace(/^exec=/u, ''))]
  if (row.short === undefined || !/^-[^-]/u.test(word)) return []
  const place = [...word].findIndex((letter, index) => index > 0 && row.short?.includes(letter))
  return place < 0 ? [] : [use(`-${word.charAt(place)}`, word.slice(place + 1) || next)]
}

/** Creating an archive overwrites it: `tar cf a.tar src`, `tar -czf a.tar src`. */
function packed(args: readonly string[]): readonly OptionUse[] {
  const clusters = args.filter((word, at) => /^-[^-]/u.test(word) || (at === 0 && /^[A-Za-z]+$/u.test(word)))
  const isMade = clusters.some((word) => word.includes('c')) || args.some((word) => word.startsWith('--creat'))
  const at = args.findIndex((word) => clusters.includes(word) && word.includes('f'))
  const long = args.findIndex((word) => /^--fil?e?(?:=|$)/u.test(word))
  if (!isMade || (at < 0 && long < 0)) return []
  const inWord = /^--file=([\s\S]*)$/u.exec(args[long] ?? '')?.[1]
  return [{ effect: 'writes', name: '-f', value: inWord ?? args[(at < 0 ? long : at) + 1] ?? '' }]
}

/** Variables whose value programs run as a command. */
const COMMAND_VARIABLES =
  /^(?:GIT_(?:SSH_COMMAND|SSH|EDITOR|SEQUENCE_EDITOR|PAGER|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)|(?:MAN|SYSTEMD_|BAT_|DELTA_|GH_)?PAGER|EDITOR|VISUAL|FCEDIT|BROWSER|(?:SSH|SUDO)_ASKPASS|RSYNC_RSH|CVS_RSH|SVN_SSH|LESSOPEN|LESSCLOSE|PROMPT_COMMAND|SHELL|RUSTC_WRAPPER|CC|CXX|AR)$/u
/** Variables that hold further arguments of a program. */
const ARGUMENT_VARIABLES: ReadonlyMap<string, string> = new Map([
  ['TAR_OPTIONS', 'tar'],
  ['LESS', 'less'],
  ['MAKEFLAGS', 'make'],
  ['RSYNC_OPTIONS', 'rsync'],
])

/** The command that a variable makes programs run. */
export function variableUse(assignment: string): OptionUse | undefined {
  const [, name = '', value = ''] = /^(\w+)\+?=([\s\S]*)$/u.exec(assignment) ?? []
  const program = ARGUMENT_VARIABLES.get(name)
  if (program !== undefined) return { effect: 'runs', name, value: `${program} ${value}` }
  // A prompt: the shell expands it before it prints it.
  if (/^PS[0-4]$/u.test(name)) return { effect: 'runs', name, value: `: "${value.replaceAll('"', '')}"` }
  return COMMAND_VARIABLES.test(name) ? { effect: 'runs', name, value: value.replace(/^\|+/u, '') } : undefined
}

/** Whether a variable makes programs load code that the line does not show. */
export function loadsCode(assignment: string): boolean {
  const [, name = '', value = ''] = /^(\w+)\+?=([\s\S]*)$/u.exec(assignment) ?? []
  if (/^(?:BASH_ENV|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|PERL5OPT|RUBYOPT|GIT_EXEC_PATH)$/u.test(name))
    return value !== ''
  if (name === 'ENV') return /[/$`]/u.test(value)
  if (name === 'NODE_OPTIONS')
    return /(?:^|\s)(?:-r|--(?:require|import|loader|experimental-loader|eval))\b/u.test(value)
  return /^GIT_CONFIG_(?:COUNT|PARAMETERS|KEY_|VALUE_|GLOBAL|SYSTEM)/u.test(name) && value !== '/dev/null'
}
