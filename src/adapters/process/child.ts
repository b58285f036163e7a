/** A running child process: its streams, its exit, and stopping it with everything that it started. */
import type { Readable, Writable } from 'node:stream'
import { readdir, readFile } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { waitAtMost } from '../../async/with-timeout.ts'
import { fail } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Child, ProcessExit, ProcessUsage } from '../../ports/process.ts'
import { killDeserters } from './ledger.ts'

export interface Started {
  readonly command: string
  /** The marker in the environment of the child and of its descendants. */
  readonly marker: string
  readonly pid: number
  readonly ended: Promise<ProcessExit>
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
}

interface ChildOptions {
  readonly clock: Clock
  readonly onStderr?: ((bytes: Uint8Array) => void) | undefined
  /** Called once, when the child has exited and its group was signalled. */
  readonly onGone: (child: Child) => void
}

const DEFAULT_GRACE_MS = 1000
/** Until a killed group is gone; a process stuck in a system call may never end. */
const KILL_LIMIT_MS = 2000
/** For the rest of stderr after the exit, when a process that left the group holds it open. */
const DRAIN_MS = 200

export function openChild(started: Started, { clock, onStderr, onGone }: ChildOptions): Child {
  const { command, pid, ended, stdin, stdout, stderr } = started
  const tail = tailOf(stderr)
  if (onStderr !== undefined) stderr.on('data', onStderr)
  // When a child exits, Node discards output that has no reader yet; a listener keeps it.
  stdout.on('readable', () => undefined)
  let end: ProcessExit | undefined
  let stopped: Promise<void> | undefined

  const exited = ended.then((exit) => {
    end = exit
    signalGroup(pid, 'SIGKILL')
    // A grandchild that left the group may hold the other end; writes must not wait for it.
    stdin.destroy()
    onGone(child)
    return exit
  })
  // Writers learn of a closed pipe from their own write; without a listener the process would end.
  stdin.on('error', () => undefined)
  // Node may tell of the exit before it has read what the child wrote last.
  const stderrEnd = finished(stderr, { writable: false }).catch(() => undefined)
  const stderrRead = exited.then(() => waitAtMost(stderrEnd, { clock, ms: DRAIN_MS }))

  const child: Child = {
    pid,
    stdout: chunksOf(stdout),
    stderrTail: () => tail(),
    exited,
    stderrRead,
    usage: () => usageOf(pid),
    write: (bytes) =>
      write(stdin, bytes).catch((error: unknown) => {
        return fail('PROCESS_GONE', { command, reason: end ? howItEnded(end) : 'it no longer reads' }, error)
      }),
    stop(graceMs = DEFAULT_GRACE_MS, inputMs = graceMs) {
      stopped ??= stop(started, { exited, stderrRead }, { clock, graceMs, inputMs })
      return stopped
    },
  }
  return child
}

async function stop(
  { marker, pid, stdin, stdout, stderr }: Started,
  { exited, stderrRead }: Pick<Child, 'exited' | 'stderrRead'>,
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
  // A process that cannot be killed never exits.
  await within(stderrRead, clock, DRAIN_MS)
  for (const stream of [stdin, stdout, stderr]) stream.destroy()
}

/** Whether `event` happens within `ms`. */
async function within(event: Promise<unknown>, clock: Clock, ms: number): Promise<boolean> {
  const came = await waitAtMost(
    event.then(() => true),
    { clock, ms },
  )
  return came === true
}

function write(stdin: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    // Node calls back without an error for data that was still buffered when the pipe was destroyed.
    stdin.write(bytes, (error) => (error || stdin.destroyed ? reject(error ?? new Error('closed')) : resolve()))
  })
}

function howItEnded({ code, signal }: ProcessExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`
}

/** With the stream's own back-pressure: a child that writes faster than we read has to wait. */
async function* chunksOf(stream: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of stream) yield chunk as Uint8Array
  } catch {
    // A pipe that breaks, or that `stop` closes, is the end of the output; `exited` has the reason.
  }
}

const LIMIT_BYTES = 4096

/** Reads `stream` to its end in bounded memory; the returned function gives its last few KiB as text. */
function tailOf(stream: Readable): () => string {
  let kept = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    kept = chunk.length >= LIMIT_BYTES ? Buffer.from(chunk.subarray(-LIMIT_BYTES)) : joined(kept, chunk)
  })
  // The text is only for messages, so a read error is ignored.
  stream.on('error', () => undefined)
  return () => textOf(kept)
}

function joined(kept: Buffer, chunk: Buffer): Buffer<ArrayBuffer> {
  return Buffer.concat([kept.subarray(-(LIMIT_BYTES - chunk.length)), chunk])
}

/** The first word may be cut, and the end of a secret would not be recognized as one: it is dropped. */
function textOf(bytes: Buffer): string {
  const isCut = bytes.length >= LIMIT_BYTES
  const text = bytes.toString('utf8')
  return isCut ? text.replace(/^\S*/u, '') : text
}

/** False when the group has no members left. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch (error) {
    // EPERM: a member changed its user. It exists, and we cannot end it.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Resolves when no process of the group runs, or with false after `limitMs`. */
async function groupGone(group: number, clock: Clock, limitMs: number): Promise<boolean> {
  const end = clock.monotonicNow() + limitMs
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    if (!signalGroup(group, 0) || !(await hasRunningMember(group))) return true
    if (clock.monotonicNow() >= end) return false
    await clock.sleep(pause)
  }
}

/**
 * A signal also reaches zombies until their parent has waited for them, which in a container without an init is never; so the state of
 * each process is read too.
 */
async function hasRunningMember(group: number): Promise<boolean> {
  const pids = await readdir('/proc').catch(() => undefined)
  // Without /proc only the result of the signal is known.
  if (pids === undefined) return true
  for (const pid of pids) {
    if (/^\d+$/.test(pid) && (await runsIn(pid, group))) return true
  }
  return false
}

/** Pages and clock ticks as Linux counts them nearly everywhere. */
const PAGE_BYTES = 4096
const TICK_MS = 10

async function usageOf(group: number): Promise<ProcessUsage | undefined> {
  const pids = await readdir('/proc').catch(() => undefined)
  if (pids === undefined) return undefined
  let residentBytes = 0
  let cpuMs = 0
  for (const pid of pids) {
    if (!/^\d+$/.test(pid)) continue
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[2]) !== group) continue
    cpuMs += (Number(fields[11]) + Number(fields[12])) * TICK_MS
    residentBytes += Number(fields[21]) * PAGE_BYTES
  }
  return { residentBytes, cpuMs }
}

async function runsIn(pid: string, group: number): Promise<boolean> {
  // A process that disappears meanwhile does not run.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the program's name in parentheses, with any characters; state, parent and group follow it.
  const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(processGroup) === group && state !== 'Z' && state !== 'X'
}
