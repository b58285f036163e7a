/** `run_command`: runs a line for the shell, in a terminal of the client if it serves terminals, else in this process. */
import { z } from 'zod'
import { waitAtMost } from '../../../async/with-timeout.ts'
import type { ProcessExit } from '../../../ports/process.ts'
import type { Terminal, TurnTerminals } from '../../../ports/client-peer.ts'
import type { PreviewedCommand, ToolResult } from '../../../ports/tools.ts'
import { isWithin } from '../../../path-rules/path-rules.ts'
import { CommandOutput, showProgress } from './output.ts'
import { NON_INTERACTIVE_ENVIRONMENT, type Running, startCommand } from './running.ts'
import { openRoots } from '../../../workspace/resolve-in-roots.ts'
import { type ResolvedPath, type ToolCall, defineTool, longResult, resolvePath, textResult } from '../toolset/tool.ts'
import { MAX_KEPT_CHARS } from '../toolset/result-limits.ts'
import { failTool } from '../toolset/tool-failure.ts'

/** Seconds. */
const DEFAULT_TIMEOUT_SECONDS = 120
const MAX_TIMEOUT_SECONDS = 3_600
/** Milliseconds that a stopped command may take to end before its result is returned. */
const STOP_GRACE_MS = 300

export const runCommand = defineTool({
  name: 'run_command',
  title: 'Run command',
  description:
    'Runs a command line with /bin/sh and gives back what it printed and how it ended. There is no input and no terminal to type into. For servers and watchers set background, then use command_output.',
  arguments: z.strictObject({
    command: z.string().min(1).max(100_000),
    cwd: z.string().min(1).optional().describe('Where it runs. Default: the working directory.'),
    timeout: z
      .int()
      .min(1)
      .max(MAX_TIMEOUT_SECONDS)
      .optional()
      .describe(`Seconds until it is stopped. Default ${DEFAULT_TIMEOUT_SECONDS}.`),
    background: z.boolean().optional().describe('Return at once and leave it running. Default false.'),
  }),
  kind: 'execute',
  readOnly: false,
  async preview({ command, cwd = '.' }, looking) {
    assertCommand(command)
    const place = await resolvePath(cwd, looking).catch(() => undefined)
    return {
      title: `Run ${shownLine(command)}`,
      command: await previewOf(command, { cwd: place?.real, roots: looking.caller.roots }),
      ...(place && { paths: place.paths }),
    }
  },
  async run({ command, cwd = '.', timeout = DEFAULT_TIMEOUT_SECONDS, background = false }, call) {
    assertCommand(command)
    const place = await resolvePath(cwd, call)
    // A terminal of the client is outside of the sandbox.
    const terminals = (await call.services.sandbox.isUsed()) ? undefined : call.caller.client.terminals
    if (background) return runInBackground(command, place, call)
    const ended =
      terminals === undefined
        ? await runLocally(command, { place, call, timeout })
        : await runInTerminal(command, { place, call, timeout, terminals })
    return resultOf(ended, call, timeout)
  },
})

interface CommandPlace {
  /** Absent where that is none of the session. */
  readonly cwd: string | undefined
  readonly roots: readonly string[]
}

/** The parser of command lines is a third of what the first session would wait for. */
async function loadShellSafety() {
  const [{ approvalPrefix }, { assessCommandLine }, { pathsNamed }] = await Promise.all([
    import('../../../shell-safety/approval-prefix.ts'),
    import('../../../shell-safety/assess-command.ts'),
    import('../../../shell-safety/named-paths.ts'),
  ])
  return { approvalPrefix, assessCommandLine, pathsNamed }
}

/** A command that only reads, but outside the session's directories, counts as a command that changes files. */
async function previewOf(line: string, { cwd, roots }: CommandPlace): Promise<PreviewedCommand> {
  const { approvalPrefix, assessCommandLine, pathsNamed } = await loadShellSafety()
  const { shapes, effect, why, extras, isDeep } = assessCommandLine(line)
  const places = await pathsNamed(shapes, cwd ?? '/')
  const real = await openRoots(roots)
  const isInside = (place: string) => real.some((root) => isWithin(place, root.real))
  const isReading = effect === 'reads' && cwd !== undefined && places.every(isInside)
  return {
    line,
    approvalPrefix: approvalPrefix(line),
    effect: effect === 'destroys' ? effect : isReading ? 'reads' : 'changes',
    ...(why !== undefined && { why }),
    extras,
    pathPatterns: places,
    isDeep,
  }
}

interface Ended {
  readonly text: string
  readonly exit: Partial<ProcessExit>
  readonly why?: 'timeout' | 'cancelled' | undefined
  readonly terminalId?: string
}

interface CommandRun {
  readonly place: ResolvedPath
  readonly call: ToolCall
  readonly timeout: number
}

async function runInBackground(
  line: string,
  { real }: ResolvedPath,
  { services, memory, caller }: ToolCall,
): Promise<ToolResult> {
  memory.background.requireRoom()
  const running = await startCommand({ line, cwd: real, roots: caller.roots, ...services })
  const id = await memory.background.keep(running)
  return textResult(
    `It runs in the background as ${id}. Read what it says, wait for it or stop it with command_output.`,
    {
      structured: { id },
    },
  )
}

async function runLocally(line: string, { place, call, timeout }: CommandRun): Promise<Ended> {
  const { services, signal, caller } = call
  const running = await startCommand({ line, cwd: place.real, roots: caller.roots, ...services, signal })
  const endShow = showProgress(running.output, caller, services.clock)
  try {
    const why = await endOrReason(running, { call, timeout })
    // A cancelled call returns at once and does not wait for the last child process.
    if (why !== undefined) await waitAtMost(running.stop(), { clock: services.clock, ms: STOP_GRACE_MS })
    return { text: running.output.from(0), exit: running.exit ?? {}, why }
  } finally {
    endShow()
  }
}

function endOrReason(
  { ended }: Pick<Running, 'ended'>,
  { call: { services, signal }, timeout }: Pick<CommandRun, 'call' | 'timeout'>,
) {
  return new Promise<Ended['why']>((resolve) => {
    const cancel = () => resolve('cancelled')
    const timer = services.clock.setTimer(timeout * 1_000, () => resolve('timeout'))
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    const over = () => {
      timer.cancel()
      signal.removeEventListener('abort', cancel)
      resolve(undefined)
    }
    ended.then(over, over)
  })
}

async function runInTerminal(
  line: string,
  { terminals, place, call, timeout }: CommandRun & { terminals: TurnTerminals },
): Promise<Ended> {
  const terminal = await terminals.create({
    command: '/bin/sh',
    args: ['-c', line],
    cwd: place.given,
    env: NON_INTERACTIVE_ENVIRONMENT,
    outputByteLimit: MAX_KEPT_CHARS,
  })
  try {
    await call.caller.report({ content: [{ type: 'terminal', terminalId: terminal.id }] })
    return await waitedFor(terminal, call, timeout)
  } finally {
    await terminal.release()
  }
}

async function waitedFor(terminal: Terminal, call: ToolCall, timeout: number): Promise<Ended> {
  const ended = terminal.waitForExit()
  // A client that has left says so when it is asked for the output.
  const why = await endOrReason(
    { ended: ended.then(({ exitCode, signal }) => ({ code: exitCode, signal })) },
    { call, timeout },
  )
  if (why === 'timeout') await terminal.kill()
  // Not every client says it again with the output.
  const exited = why === undefined ? await ended.catch(() => undefined) : undefined
  const { output, truncated, exit = exited } = await terminal.output()
  const kept = new CommandOutput()
  kept.add(truncated ? `[The beginning was not kept.]\n${output}` : output)
  return {
    text: kept.from(0),
    exit: { code: exit?.exitCode ?? null, signal: exit?.signal ?? null },
    why,
    terminalId: terminal.id,
  }
}

function resultOf({ text, exit, why, terminalId }: Ended, { caller }: ToolCall, timeout: number): ToolResult {
  const { code = null, signal = null } = exit
  const isError = why !== undefined || code !== 0
  const remark = `[${howItEnded(why, exit, timeout)}]`
  const said = text.trimEnd()
  const whole = said === '' ? `[It printed nothing.]\n${remark}` : isError ? `${said}\n${remark}` : said
  return longResult(whole, caller.toolCallId, {
    isError,
    structured: { exitCode: code, signal },
    ...(terminalId !== undefined && { displayContent: [{ type: 'terminal', terminalId, output: whole }] }),
  })
}

function howItEnded(why: Ended['why'], { code, signal }: Partial<ProcessExit>, timeout: number): string {
  if (why === 'timeout')
    return `It did not end within ${timeout} seconds and was stopped. Give it a higher timeout, or run it in the background.`
  if (why === 'cancelled') return 'It was cancelled and stopped.'
  return typeof signal === 'string' ? `It was ended by ${signal}.` : `Exit code ${code ?? 'unknown'}.`
}

function shownLine(command: string): string {
  const line = command
    .trim()
    .slice(0, 1_000)
    .replaceAll(/\s*\n\s*/gu, ' ⏎ ')
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}

/** The system takes a line as far as its first NUL. */
function assertCommand(command: string): void {
  if (command.includes('\0')) failTool('A command cannot hold a NUL character.')
}
