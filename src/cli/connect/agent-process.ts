/** Any ACP agent as a child of ours, spoken to on its pipes, and ended with all that it started. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type ClientTransport, openLineTransport } from '../../client/connection/transport.ts'
import { fail } from '../../errors/parley-error.ts'
import { after } from '../output/terminal/pace.ts'

export interface SpawnedAgent {
  readonly pipe: ClientTransport
  /** How it has ended, if it has. */
  ended(): string | undefined
  /** Resolves when it has ended, or after so many milliseconds. */
  gone(ms: number): Promise<unknown>
  /** Closes its stdin, and kills the agent if it does not end then. */
  close(): Promise<void>
}

/** How long it may take to end by itself, then when it is asked to. Milliseconds. */
const EXIT_TIMEOUTS_MS = [2_000, 1_000] as const

/** Takes a line for the shell. The agent's stderr is shown as it comes. */
export async function startAgentProcess(
  command: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<SpawnedAgent> {
  const child = spawn('/bin/sh', ['-c', command], {
    env: { ...environment },
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const gone = once(child, 'exit').catch(() => undefined)
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) return fail('PROCESS_SPAWN', { command, reason: 'it has no pipes' })
  stdin.on('error', () => {
    // The process no longer reads; the reader of its output reports its end.
  })
  const pipe = openLineTransport(stdout, stdin)
  let closing: Promise<void> | undefined
  return {
    pipe,
    ended: () => howItEnded(child),
    gone: (ms) => Promise.race([gone, elapsed(ms)]),
    close: () => (closing ??= end(child, pipe, gone)),
  }
}

async function end(child: ChildProcess, pipe: ClientTransport, gone: Promise<unknown>): Promise<void> {
  pipe.close()
  const [byItself, asked] = EXIT_TIMEOUTS_MS
  await Promise.race([gone, elapsed(byItself)])
  if (howItEnded(child) === undefined) signalGroup(child, 'SIGTERM')
  await Promise.race([gone, elapsed(asked)])
  // Also what it has left behind.
  signalGroup(child, 'SIGKILL')
}

/** The child process keeps this process alive; a timer alone does not. */
function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => void after(ms, resolve))
}

function howItEnded({ exitCode, signalCode }: ChildProcess): string | undefined {
  if (signalCode !== null) return `signal ${signalCode}`
  return exitCode === null ? undefined : `exit code ${exitCode}`
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // All of it has ended.
  }
}
