/** A running child behind the port: its streams, its end, and the end of everything that it started. */
import type { Readable, Writable } from 'node:stream'
import { waitAtMost } from '../../async/with-timeout.ts'
import { fail } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Child, ProcessExit } from '../../ports/process.ts'
import { groupGone, signalGroup } from './group.ts'
import { killDeserters } from './ledger.ts'
import { tailOf } from './tail.ts'

export interface Started {
  readonly command: string
  /** What it and all that came of it carry in their environment. */
  readonly marker: string
  readonly pid: number
  readonly ended: Promise<ProcessExit>
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
}

export interface ChildSurroundings {
  readonly clock: Clock
  /** Called once, when the leader has ended and its group was told to. */
  readonly onGone: (child: Child) => void
}

const DEFAULT_GRACE_MS = 1000
/** The kernel needs a moment to end a killed group; a process stuck in a system call can take for ever. */
const KILL_LIMIT_MS = 2000

export function openChild(started: Started, { clock, onGone }: ChildSurroundings): Child {
  const { command, pid, ended, stdin, stdout, stderr } = started
  const tail = tailOf(stderr)
  // Node throws away, when a child ends, what nobody has begun to read; a listener keeps it for the reader to come.
  stdout.on('readable', () => undefined)
  let end: ProcessExit | undefined
  let stopped: Promise<void> | undefined

  const exited = ended.then((exit) => {
    end = exit
    signalGroup(pid, 'SIGKILL')
    // A grandchild that left the group may hold the other end; nobody may wait for it to read.
    stdin.destroy()
    onGone(child)
    return exit
  })
  // Writers learn of a closed pipe from their own write; without a listener the process would end.
  stdin.on('error', () => undefined)

  const child: Child = {
    pid,
    stdout: chunksOf(stdout),
    stderrTail: () => tail(),
    exited,
    write: (bytes) =>
      write(stdin, bytes).catch((error: unknown) => {
        return fail('PROCESS_GONE', { command, reason: end ? howItEnded(end) : 'it no longer reads' }, error)
      }),
    stop(graceMs = DEFAULT_GRACE_MS, inputMs = graceMs) {
      stopped ??= stop(started, exited, { clock, graceMs, inputMs })
      return stopped
    },
  }
  return child
}

async function stop(
  { marker, pid, stdin, stdout, stderr }: Started,
  exited: Promise<ProcessExit>,
  { clock, graceMs, inputMs }: { readonly clock: Clock; readonly graceMs: number; readonly inputMs: number },
): Promise<void> {
  stdin.end()
  if (!(await within(exited, clock, inputMs))) {
    signalGroup(pid, 'SIGTERM')
    if (!(await within(exited, clock, graceMs))) signalGroup(pid, 'SIGKILL')
  }
  await within(exited, clock, KILL_LIMIT_MS)
  await groupGone(pid, clock, KILL_LIMIT_MS)
  await killDeserters(marker)
  for (const stream of [stdin, stdout, stderr]) stream.destroy()
}

/** Whether `event` comes within `ms`. */
async function within(event: Promise<unknown>, clock: Clock, ms: number): Promise<boolean> {
  const came = await waitAtMost(
    event.then(() => true),
    { clock, ms },
  )
  return came === true
}

function write(stdin: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // Node calls back without an error for what it still held when the pipe was destroyed.
    stdin.write(bytes, (error) => (error || stdin.destroyed ? reject(error ?? new Error('closed')) : resolve()))
  })
}

function howItEnded({ code, signal }: ProcessExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`
}

/** The stream's own back-pressure: a child that writes more than is read waits. */
async function* chunksOf(stream: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array
  } catch {
    // A pipe that breaks, or that `stop` closes, is the end of the output; `exited` says why.
  }
}
