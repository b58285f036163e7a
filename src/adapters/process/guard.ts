/** The guard: a small shell that kills all registered process groups when the server has died, however it died. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import { MARKER } from './environment.ts'

/**
 * `+GROUP` and `-GROUP` arrive line by line, and in a cluster `.SECONDS`: the groups may run for so long, and are stopped after it until
 * the next such line; zero seconds stop them at once. The input ends when the server has died. Then the guard sends TERM, waits up to a
 * second, sends KILL, and finally kills every process that still has the marker in its environment. Stopped groups get KILL at once:
 * another node may be at their work.
 */
const SCRIPT = `
trap '' HUP INT TERM
marker=$1 groups=' ' new=1 stopped= timer= woken= heard=
tell() { heard=; for member in $groups; do kill -s "$1" -- "-$member" && heard=1; done; } 2>/dev/null
# Also those that have left their group.
each() {
  found=
  for file in $(grep -lF -e "$marker" /proc/[0-9]*/environ 2>/dev/null); do
    pid=\${file#/proc/}
    kill -s "$1" "\${pid%/environ}" 2>/dev/null && found=1
  done
}
# It repeats its signal until it is disarmed: one that comes just before read begins to wait would not be seen before the next line.
# Not for ever: a guard that was killed, and that its server has not awaited, still takes signals.
# A timer ends and awaits its own sleep: an orphan would go to process 1, which in many containers awaits none. It inherits an ignored
# TERM, and $!, which is another process until its own sleep runs.
arm() {
  before=$!
  (
    trap '[ "$!" = "$before" ] || { kill -s KILL "$!"; wait "$!"; }; exit' USR2
    pause=$1 left=20
    while [ "$left" -gt 0 ]; do
      sleep "$pause" &
      wait "$!"
      before=$! pause=0.05 left=$((left - 1))
      kill -s USR1 $$ || exit
    done
  ) 2>/dev/null &
  timer=$!
}
# The shell keeps what it knows of a child until it has awaited it.
disarm() {
  [ -z "$timer" ] || { kill -s USR2 "$timer"; wait "$timer"; } 2>/dev/null
  timer=
}
halt() { tell STOP; each STOP; }
trap 'woken=1 stopped=1; disarm; halt' USR1
while :; do
  # The signal interrupts it in some shells, and then it reads on.
  if read -r line; then woken=
  elif [ -n "$woken" ]; then woken=; continue
  else break
  fi
  group=\${line#?}
  case $line in
    .0.000) kill -s USR1 $$ ;;
    .*)
      disarm
      arm "$group"
      # The guard before this one may have stopped them. The timer may end meanwhile.
      if [ -n "$stopped$new" ]; then
        stopped= new=
        tell CONT; each CONT
        [ -z "$stopped" ] || halt
      fi ;;
    +*)
      groups="$groups$group "
      [ -z "$stopped" ] || kill -s STOP -- "-$group" 2>/dev/null ;;
    -*) case $groups in
      *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;;
    esac ;;
  esac
done
trap '' USR1
disarm
heard=
[ -n "$stopped" ] || tell TERM
for pause in 1 2 3 4 5 6 7 8 9; do
  [ -n "$heard" ] || break
  sleep 0.1
  tell 0
done
tell KILL
for round in 1 2 3; do
  each KILL
  [ -n "$found" ] || break
done
`

export interface Guard {
  /** The guard's input, for a child to inherit and register itself on; starts the guard if none runs. */
  channel(): Promise<Writable>
  /** Remembers a group that has registered itself, so that the next guard learns of it if this one dies. */
  remember(group: number): void
  /** Call it when a group is gone: its number may be used again. */
  forget(group: number): void
  /** Its groups may run for so many milliseconds from now, and are stopped then until they may again. Without it they always run. */
  renew(ms: number): void
  /** Ends the guard, which ends the remaining groups. */
  close(): Promise<void>
}

interface GuardOptions {
  readonly marker: string
  readonly path: string | undefined
  readonly clock: Clock
}

interface Running {
  readonly process: ChildProcess
  readonly input: Writable
}

/** Longer than the guard's own waits; after that it is stuck and is killed. */
const CLOSE_LIMIT_MS = 5000
const BRIEF_MS = 200

export function openGuard(options: GuardOptions): Guard {
  const groups = new Set<number>()
  let running: Running | undefined
  let closed = false
  /** When the groups must stop, on the monotonic clock. */
  let end: number | undefined

  function start(): Running {
    const started = launch(options)
    // The error says why it did not start, such as a lack of descriptors. Running groups get a guard as soon as one can start.
    if (started.process.pid === undefined) {
      options.clock.setTimer(BRIEF_MS, replace)
      return started
    }
    const since = options.clock.monotonicNow()
    running = started
    for (const group of groups) started.input.write(`+${group}\n`)
    // After the groups, which it stops, or lets go on if the guard before it had stopped them.
    if (end !== undefined) renewAt(started, end - since)
    started.process.once('exit', () => {
      if (running === started) running = undefined
      // A guard that ends at once must not be restarted in a busy loop.
      if (options.clock.monotonicNow() - since > BRIEF_MS) replace()
      else options.clock.setTimer(BRIEF_MS, replace)
    })
    return started
  }

  function replace(): void {
    // Without children no guard is needed; the next child starts one.
    if (!closed && groups.size > 0 && running === undefined) start()
  }

  return {
    async channel() {
      // One that has just died may be known as running until its exit is noticed.
      const current = running === undefined || running.input.destroyed ? start() : running
      if (current.process.pid === undefined) {
        const [error] = (await once(current.process, 'error')) as [Error]
        throw error
      }
      return current.input
    },
    remember: (group) => void groups.add(group),
    forget(group) {
      if (groups.delete(group)) running?.input.write(`-${group}\n`)
    },
    renew(ms) {
      end = options.clock.monotonicNow() + ms
      if (running !== undefined) renewAt(running, ms)
    },
    async close() {
      closed = true
      if (running !== undefined) await finish(running, options.clock)
    },
  }
}

function launch({ marker, path }: GuardOptions): Running {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'parley-guard', `${MARKER}=${marker}`], {
    cwd: '/',
    // Without the marker, or it would kill itself first.
    env: { PATH: path ?? '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', () => undefined)
  // Without a free descriptor it has no input either.
  if (child.pid === undefined) return { process: child, input: child.stdin }
  // Writing to a guard that died fails; its exit is handled instead.
  child.stdin.on('error', () => undefined)
  child.unref()
  if ('unref' in child.stdin) (child.stdin as unknown as { unref(): void }).unref()
  return { process: child, input: child.stdin }
}

function renewAt({ input }: Running, ms: number): void {
  input.write(`.${(Math.max(0, ms) / 1_000).toFixed(3)}\n`)
}

async function finish({ process: child, input }: Running, clock: Clock): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  const stuck = clock.setTimer(CLOSE_LIMIT_MS, () => void child.kill('SIGKILL'))
  // The server now waits for the guard, which may keep the process alive.
  child.ref()
  input.end()
  await gone
  stuck.cancel()
}
