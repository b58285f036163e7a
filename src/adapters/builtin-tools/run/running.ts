/** A running command: its output, and its end together with all processes that it started. */
import { waitAtMost } from '../../../async/with-timeout.ts'
import type { Child, ProcessExit, Processes } from '../../../ports/process.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import type { CommandSandbox } from '../sandbox/sandbox.ts'
import { CommandOutput } from './output.ts'

export interface Running {
  readonly line: string
  readonly output: CommandOutput
  /** Undefined while it runs. */
  readonly exit: ProcessExit | undefined
  /** Resolves when the command has ended and all of its output has arrived. */
  readonly ended: Promise<ProcessExit>
  /** Its whole group, soon. Idempotent. */
  stop(): Promise<void>
}

export interface CommandStart {
  readonly line: string
  readonly cwd: string
  readonly roots: readonly string[]
  readonly processes: Processes
  readonly sandbox: CommandSandbox
  readonly clock: Clock
  readonly signal?: Signal
}

/** There is no user who could type or scroll. */
export const NON_INTERACTIVE_ENVIRONMENT = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  NO_COLOR: '1',
  TERM: 'dumb',
}

/** Milliseconds between the request to end and the kill. Commands have no input whose end could ask them. */
const GRACE_MS = 40
/** Milliseconds to wait for the end of the output, which a process outside the group may hold open. */
const OUTPUT_END_MS = 100

/** Throws SANDBOX_UNAVAILABLE, and what keeps a process from being started. */
export async function startCommand(starting: CommandStart): Promise<Running> {
  const { line, cwd, roots, processes, sandbox, clock, signal } = starting
  const plain = { command: '/bin/sh', args: ['-c', `exec 2>&1 </dev/null\n${line}`] }
  const launch = (await sandbox.around(plain, { cwd, roots })) ?? plain
  const child = await processes.spawn({ ...launch, cwd, env: NON_INTERACTIVE_ENVIRONMENT }, signal)
  const output = new CommandOutput()
  const said = drain(child, output)
  let exit: ProcessExit | undefined
  const ended = child.exited.then(async (how) => {
    await waitAtMost(said, { clock, ms: OUTPUT_END_MS })
    exit = how
    await child.stop(0)
    return how
  })
  return {
    line,
    output,
    get exit() {
      return exit
    },
    ended,
    async stop() {
      await child.stop(GRACE_MS, 0)
      await ended
    },
  }
}

async function drain({ stdout }: Child, output: CommandOutput): Promise<void> {
  for await (const chunk of stdout) output.append(chunk)
}
