/** A running child process: its streams, its exit, and stopping it with everything that it started. */
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { waitAtMost } from '../../async/with-timeout.ts'
import { fail } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Child, ProcessExit, ProcessUsage } from '../../ports/process.ts'

/** A child with everything that it started, as far as the system lets us reach that. */
export interface ProcessTree {
  /** Asks all of it to end. */
  terminate(): void
  kill(): void
  /** The child itself has exited: what it left is killed where that cannot hit another process. */
  childExited(): void
  /** Resolves when nothing of it runs, or after `limitMs`. */
  gone(limitMs: number): Promise<void>
  usage(): Promise<ProcessUsage | undefined>
}

export interface Started {
  readonly command: string
  readonly tree: ProcessTree
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
  const { command, tree, pid, ended, stdin, stdout, stderr } = started
  const tail = tailOf(stderr)
  if (onStderr !== undefined) stderr.on('data', onStderr)
  stderr.off('readable', noReaderYet)
  keepUnread(stdout)
  let end: ProcessExit | undefined
  let stopped: Promise<void> | undefined

  const exited = ended.then((exit) => {
    end = exit
    tree.childExited()
    // A grandchild that left the group may hold the other end; writes must not wait for it.
    stdin.destroy()
    onGone(child)
    return exit
  })
  // Writers learn of a closed pipe from their own write; without a listener the process would end.
  stdin.on('error', () => undefined)
  // Node may tell of the exit before it has read what the child wrote last.
  const stderrEnd = finished(stderr, { writable: false }).catch(() => undefined)
  const stderrRead = exited.then(async () => {
    await waitAtMost(stderrEnd, { clock, ms: DRAIN_MS })
    // On a busy machine the time may be over before the event loop has read once.
    await clock.nextTick()
  })

  const child: Child = {
    pid,
    stdout: chunksOf(stdout),
    stderrTail: () => tail(),
    exited,
    stderrRead,
    usage: () => tree.usage(),
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

/** When a child exits, Node discards output that has no reader yet; a listener keeps it. */
export function keepUnread(...outputs: readonly Readable[]): void {
  for (const output of outputs) output.on('readable', noReaderYet)
}

function noReaderYet(): void {}

async function stop(
  { tree, stdin, stdout, stderr }: Started,
  { exited, stderrRead }: Pick<Child, 'exited' | 'stderrRead'>,
  { clock, graceMs, inputMs }: { readonly clock: Clock; readonly graceMs: number; readonly inputMs: number },
): Promise<void> {
  stdin.end()
  if (!(await within(exited, clock, inputMs))) {
    tree.terminate()
    if (!(await within(exited, clock, graceMs))) tree.kill()
  }
  await within(exited, clock, KILL_LIMIT_MS)
  await tree.gone(KILL_LIMIT_MS)
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
