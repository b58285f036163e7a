/** Programs that run another command from their arguments (`env`, `xargs`, `ssh`), as data: where that command begins. */
import { runByGit } from './git-effects.ts'

interface Wrapper {
  readonly program: RegExp
  /** Only with this first argument does it run a command. */
  readonly verb?: RegExp
  /** Options without a value. */
  readonly flags?: RegExp
  /** Options whose value is the next word. */
  readonly values?: RegExp
  /** Options whose value is a command line. */
  readonly line?: RegExp
  /** How many of its own words stand before the command: a host, a time. */
  readonly skips?: number
  /** It appends arguments that the line does not show. */
  readonly isFed?: true
  /** The command may begin at any of its words. */
  readonly isAnywhere?: true
}

const WRAPPERS: readonly Wrapper[] = [
  {
    program:
      /^(?:nohup|builtin|busybox(?:\.exe)?|toybox|shx|setsid|unshare|nsenter|unbuffer|caffeinate|coproc|winpty)$/u,
  },
  { program: /^command$/u, verb: /^(?!-\w*[vV])/u, flags: /^-p$/u },
  { program: /^env$/u, flags: /^(?:-[i0v]|-)$/u, values: /^-[uC]$/u, line: /^(?:-S|--split-string)$/u },
  { program: /^exec$/u, flags: /^-[cl]$/u, values: /^-a$/u },
  { program: /^time$/u, flags: /^-[pv]$/u, values: /^-[fo]$/u },
  { program: /^(?:nice|ionice|stdbuf|prlimit|xvfb-run|dbus-run-session|choom)$/u, values: /^-[ncpioe]$/u },
  { program: /^perf$/u, verb: /^(?:stat|record|trace)$/u, values: /^-[eoFp]$/u, skips: 1 },
  { program: /^chrt$/u, flags: /^(?:-[abdfiormRv]+|--\w+)$/u, values: /^-[TPD]$/u, skips: 1 },
  {
    program: /^ld(?:64|-linux.*|-musl.*|-[\d.]+)?\.so(?:\..+)?$|^ld-(?:linux|musl)/u,
    values: /^--(?:library-path|preload|argv0|audit|inhibit-rpath|glibc-hwcaps-\w+)$/u,
  },
  {
    program: /^systemd-run$/u,
    flags: /^(?:-[tPqGrdS]+|--(?:user|system|scope|pty|pipe|quiet|wait|collect|no-block|same-dir|remain-after-exit))$/u,
    values: /^(?:-[pEuHM]|--(?:property|setenv|unit|description|slice|uid|gid|nice|working-directory|on-\w+))$/u,
  },
  {
    program:
      /^(?:fakeroot|fakechroot|setpriv|runcon|torsocks|torify|tsocks|proxychains4?|rlwrap|eatmydata|catchsegv|ssh-agent|dumb-init|tini|cpulimit|numactl|daemonize|chpst|watchexec|sshpass|wine|setarch|linux32|linux64|i386|x86_64|uname26|catatonit|pidproxy|doppler|dotenv|cross-env|env-cmd)$/u,
    values: /^-[pucfnlmb]$/u,
  },
  { program: /^(?:gosu|su-exec|setuidgid|faketime|softlimit|qemu-\S+)$/u, skips: 1 },
  { program: /^(?:cgexec|lxc-attach)$/u, values: /^-[gn]$/u },
  { program: /^ip$/u, verb: /^netns$/u, skips: 3 },
  { program: /^cmake$/u, verb: /^-E$/u },
  { program: /^capsh$/u, line: /^-c$/u },
  // Their options take one value or two, so the command may begin at any word.
  { program: /^(?:bwrap|firejail|proot|bindfs)$/u, isAnywhere: true },
  { program: /^(?:timeout|gtimeout)$/u, flags: /^--\S*$/u, values: /^-[sk]$/u, skips: 1 },
  { program: /^(?:taskset|chroot|script)$/u, flags: /^-[qaef]$/u, line: /^-\w*c$/u, skips: 1 },
  { program: /^flock$/u, flags: /^-[nxsuo]$/u, values: /^-[wE]$/u, line: /^-c$/u, skips: 1 },
  { program: /^(?:strace|ltrace|gdb|valgrind)$/u, flags: /^(?:-f+|--args|-[qcTtv])$/u, values: /^-[eopsS]$/u },
  { program: /^(?:watch|hyperfine|entr|nodemon|chokidar)$/u, flags: /^-[cdrtxz]$/u, values: /^-[nwm]$/u, isFed: true },
  { program: /^(?:xargs|parallel)$/u, flags: /^(?:-[0rtpxk]|--null)$/u, values: /^-[InPLsdEaj]$/u, isFed: true },
  {
    program: /^(?:npx|bunx|pnpx)$/u,
    flags: /^(?:-y|--yes|--no-install|--bun)$/u,
    values: /^(?:-p|--package)$/u,
    line: /^-c$/u,
  },
  {
    program: /^(?:npm|pnpm|yarn|bun|bundle)$/u,
    verb: /^(?:exec|dlx|x)$/u,
    flags: /^(?:--|-y|--yes)$/u,
    line: /^-c$/u,
    skips: 1,
  },
  { program: /^(?:uv|poetry|pipenv|hatch|pdm|rye|pixi|conda|op|direnv|doppler)$/u, verb: /^(?:run|exec)$/u, skips: 1 },
  {
    program: /^(?:docker|podman|nerdctl)$/u,
    verb: /^(?:exec|run)$/u,
    flags: /^(?:-[itd]+|--rm|--init|--privileged)$/u,
    values: /^(?:-[veuwpl]|--(?:name|network|entrypoint|env-file|mount|platform|user|workdir|env|volume))$/u,
    skips: 2,
  },
  {
    program: /^(?:docker|podman|nerdctl)$/u,
    verb: /^(?:compose|container)$/u,
    flags: /^(?:-[itdT]+|--rm|--no-deps)$/u,
    values: /^(?:-[veuwpf]|--(?:file|env-file|user|profile))$/u,
    skips: 3,
  },
  {
    program: /^docker-compose$/u,
    verb: /^(?:exec|run)$/u,
    flags: /^(?:-[itdT]+|--rm)$/u,
    values: /^-[eu]$/u,
    skips: 2,
  },
  { program: /^(?:kubectl|oc)$/u, verb: /^exec$/u, flags: /^(?:-[it]+|--)$/u, values: /^-[nc]$/u, skips: 2 },
  {
    program: /^(?:ssh|mosh)$/u,
    flags: /^-[46AaCfGgKkMNnqTtVvXxYy]+$/u,
    values: /^-[BbcDEeFIiJLlmOopQRSWw]$/u,
    skips: 1,
  },
  { program: /^trap$/u },
  { program: /^function$/u, skips: 1 },
  { program: /^(?:tmux|screen)$/u, flags: /^-\w+$/u, skips: 1 },
]

/** The commands that it may run, as words; a word with blanks is a line. Where the beginning is ambiguous, every candidate. */
export function wrappedCommands(program: string, rest: Words): readonly Words[] {
  const special = SPECIAL.get(program)?.(rest) ?? []
  const fitting = WRAPPERS.filter((one) => one.program.test(program) && (one.verb?.test(rest[0] ?? '') ?? true))
  return [...special, ...fitting.flatMap((wrapper) => commandsIn(wrapper, rest))]
}

type Words = readonly string[]

const SPECIAL: ReadonlyMap<string, (rest: Words) => readonly Words[]> = new Map([
  ['git', runByGit],
  ['find', (rest: Words) => after(rest, /^-(?:exec|ok)(?:dir)?$/u).map(upToEnd)],
  ['fd', (rest: Words) => after(rest, /^(?:-[xX]|--exec(?:-batch)?)$/u).map((words) => words.concat('{}'))],
  // The words after an alias follow its text.
  ['alias', (rest: Words) => rest.map((word) => [`${word.slice(word.indexOf('=') + 1)} {}`])],
  ['tmux', (rest: Words) => rest.filter(isLine).map((line) => [line])],
])

/** For commands that may begin anywhere. */
const MAX_BEGINNINGS = 20

function commandsIn({ flags, values, line, skips = 0, isFed, isAnywhere }: Wrapper, rest: Words): readonly Words[] {
  if (isAnywhere) return rest.slice(0, MAX_BEGINNINGS).map((_word, at) => rest.slice(at))
  const found: string[][] = []
  let left = skips
  let isUnsure = false
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? ''
    const [option = '', value = ''] = /^(--[\w-]+)=([\s\S]*)$/u.exec(word)?.slice(1) ?? []
    if (line?.test(option) === true) found.push([value])
    else if (line?.test(word) === true) found.push([rest[at + 1] ?? ''])
    else if (line?.test(word.slice(0, 2)) === true) found.push([word.slice(2)])
    if (values?.test(word) === true || line?.test(word) === true) at += 1
    else if (word.startsWith('-')) isUnsure ||= option === '' && flags?.test(word) !== true
    else if (!/^\w+=/u.test(word) && left > 0) left -= 1
    else if (!/^\w+=/u.test(word)) {
      found.push([...rest.slice(at), ...(isFed === true ? ['{}'] : [])])
      // That word may have been the value of an unknown option; the next candidate counts too.
      if (!isUnsure) return found
      isUnsure = false
    }
  }
  return found
}

function after(rest: Words, option: RegExp): readonly Words[] {
  return rest.flatMap((word, at) => (option.test(word) ? [rest.slice(at + 1)] : []))
}

function upToEnd(words: Words): Words {
  const end = words.findIndex((word) => word === ';' || word === '+')
  return end < 0 ? words : words.slice(0, end)
}

export function isLine(word: string): boolean {
  return /\s/u.test(word)
}
