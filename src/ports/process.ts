/** Child processes that never outlive us: each is the leader of a process group that a guard ends when we die. */
import type { Signal } from './values/signal.ts'

export interface ProcessSpec {
  /** A path, or a bare name looked up on PATH. */
  readonly command: string
  readonly args: readonly string[]
  /** Absolute. */
  readonly cwd: string
  /** Added to the allow-listed environment; nothing else of ours reaches the child. */
  readonly env: Readonly<Record<string, string>>
  /** `env` is the whole environment. */
  readonly isWholeEnvironment?: true
  /** Gets all that the child writes to stderr, as it comes. */
  readonly onStderr?: (bytes: Uint8Array) => void
}

/** What the process group of a child uses now. */
export interface ProcessUsage {
  readonly residentBytes: number
  /** Processor time so far, of the processes that live. */
  readonly cpuMs: number
}

export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
}

export interface Child {
  readonly pid: number
  /** Resolves when the bytes were taken; throws PROCESS_GONE when the child no longer reads. */
  write(bytes: Uint8Array): Promise<void>
  readonly stdout: AsyncIterable<Uint8Array>
  /** The last few KiB of what it wrote to stderr; always drained, so that it never blocks the child. */
  stderrTail(): string
  readonly exited: Promise<ProcessExit>
  /** Resolves once it has exited and its stderr was read to the end; soon after the exit if another process holds stderr open. */
  readonly stderrRead: Promise<void>
  /** Undefined where the system does not tell. */
  usage(): Promise<ProcessUsage | undefined>
  /**
   * Closes stdin, waits `inputMs` (`graceMs` if absent), then SIGTERM, `graceMs` later SIGKILL to the whole group. Resolves when the
   * group is gone. Idempotent.
   */
  stop(graceMs?: number, inputMs?: number): Promise<void>
}

export interface Processes {
  /** Throws COMMAND_NOT_FOUND, COMMAND_NOT_EXECUTABLE or PROCESS_SPAWN. `signal` gives up on a start that takes too long. */
  spawn(spec: ProcessSpec, signal?: Signal): Promise<Child>
  /** Stops every child and the guard. Idempotent. */
  close(): Promise<void>
}
