/** A running child behind the port: its streams, its end, and the end of everything that it started. */
import type { Readable, Writable } from 'node:stream'
import { readdir, readFile } from 'node:fs/promises'
import { waitAtMost } from '../../async/with-timeout.ts'
import { fail } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Child, ProcessExit } from '../../ports/process.ts'
import { killDeserters } from './ledger.ts'

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

interface ChildSurroundings {
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

const LIMIT_BYTES = 4096

/** Drains `stream` from now on; the function returns its last few KiB as text. */
function tailOf(stream: Readable): () => string {
  let kept = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    kept = chunk.length >= LIMIT_BYTES ? Buffer.from(chunk.subarray(-LIMIT_BYTES)) : joined(kept, chunk)
  })
  // What cannot be read is no reason to fail: these are words for people.
  stream.on('error', () => undefined)
  return () => textOf(kept)
}

function joined(kept: Buffer, chunk: Buffer): Buffer<ArrayBuffer> {
  return Buffer.concat([kept.subarray(-(LIMIT_BYTES - chunk.length)), chunk])
}

/** The cut may fall inside a word, which may be a secret that nobody would know by its end; the rest of that word is dropped. */
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
    // EPERM means that a member changed its user: it is there, and not ours to end.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Resolves when nobody in the group runs, or after `limitMs` with false. */
async function groupGone(group: number, clock: Clock, limitMs: number): Promise<boolean> {
  const end = clock.monotonicNow() + limitMs
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    if (!signalGroup(group, 0) || !(await hasRunningMember(group))) return true
    if (clock.monotonicNow() >= end) return false
    await clock.sleep(pause)
  }
}

/**
 * The kernel answers a signal for the dead too until their parent has buried them,
 * which in a container without an init is never; so we look at their state.
 */
async function hasRunningMember(group: number): Promise<boolean> {
  const pids = await readdir('/proc').catch(() => undefined)
  // Without /proc the kernel's answer to the signal is all there is to know.
  if (pids === undefined) return true
  for (const pid of pids) {
    if (/^\d+$/.test(pid) && (await runsIn(pid, group))) return true
  }
  return false
}

async function runsIn(pid: string, group: number): Promise<boolean> {
  // A process that vanishes while we look does not run.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The second field is the program's name in brackets and may hold anything; state, parent and group follow it.
  const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(processGroup) === group && state !== 'Z' && state !== 'X'
}
