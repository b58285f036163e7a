/** The guard: one small shell that outlives us just long enough to end every process group it was told of. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import { MARKER } from './environment.ts'

/**
 * `+GROUP` and `-GROUP` arrive line by line. The input ends when the last holder of our end is gone, however that came
 * about. Then: TERM, up to a second of patience, KILL, and at last whoever still carries the marker in its environment.
 */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r line; do
  group=\${line#?}
  case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in
      *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;;
    esac ;;
  esac
done
tell() { heard=; for group in $groups; do kill -s "$1" -- "-$group" && heard=1; done; } 2>/dev/null
tell TERM
for pause in 1 2 3 4 5 6 7 8 9; do
  [ -n "$heard" ] || break
  sleep 0.1
  tell 0
done
tell KILL
for round in 1 2 3; do
  found=
  for file in $(grep -lF -e "$1" /proc/[0-9]*/environ 2>/dev/null); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}" 2>/dev/null && found=1
  done
  [ -n "$found" ] || break
done
`

export interface Guard {
  /** The guard's input, for a child to inherit and register itself on; starts the guard if none runs. */
  channel(): Promise<Writable>
  /** Remembers a group that has registered itself, so that the next guard learns of it if this one dies. */
  remember(group: number): void
  /** A group is gone; its number may come back as somebody else. */
  forget(group: number): void
  /** Ends the guard, which ends whatever is left. */
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

/** More than its own patience and its rounds take; after that it is stuck and is ended itself. */
const CLOSE_LIMIT_MS = 5000
const BRIEF_MS = 200

export function openGuard(options: GuardOptions): Guard {
  const groups = new Set<number>()
  let running: Running | undefined
  let closed = false

  function start(): Running {
    const started = launch(options)
    // Its error says why there is none, such as for want of descriptors; whoever is guarded gets one as soon as there can be.
    if (started.process.pid === undefined) {
      options.clock.setTimer(BRIEF_MS, replace)
      return started
    }
    const since = options.clock.monotonicNow()
    running = started
    for (const group of groups) started.input.write(`+${group}\n`)
    started.process.once('exit', () => {
      if (running === started) running = undefined
      // One that does not live long must not be started in a busy loop.
      if (options.clock.monotonicNow() - since > BRIEF_MS) replace()
      else options.clock.setTimer(BRIEF_MS, replace)
    })
    return started
  }

  function replace(): void {
    // Without children there is nothing to guard; the next child starts the next guard.
    if (!closed && groups.size > 0 && running === undefined) start()
  }

  return {
    async channel() {
      const current = running ?? start()
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
    async close() {
      closed = true
      if (running !== undefined) await end(running, options.clock)
    },
  }
}

function launch({ marker, path }: GuardOptions): Running {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'parley-guard', `${MARKER}=${marker}`], {
    cwd: '/',
    // Its own environment has no marker: it would kill itself first.
    env: { PATH: path ?? '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', () => undefined)
  // Where there was no descriptor left for it, it has no input either.
  if (child.pid === undefined) return { process: child, input: child.stdin }
  // A guard that dies closes its input under us; its exit, not our write, is what we act on.
  child.stdin.on('error', () => undefined)
  child.unref()
  if ('unref' in child.stdin) (child.stdin as unknown as { unref(): void }).unref()
  return { process: child, input: child.stdin }
}

async function end({ process: child, input }: Running, clock: Clock): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  const stuck = clock.setTimer(CLOSE_LIMIT_MS, () => void child.kill('SIGKILL'))
  // From here on we wait for it, so it may keep us alive.
  child.ref()
  input.end()
  await gone
  stuck.cancel()
}
