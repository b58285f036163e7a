/** `run_command`: a line for the shell, in a terminal of the client where it lends one, else by ourselves. */
import { z } from 'zod'
import { waitAtMost } from '../../../async/with-timeout.ts'
import type { ProcessExit } from '../../../ports/process.ts'
import type { Terminal, TurnTerminals } from '../../../ports/client.ts'
import type { PreviewedCommand, ToolResult } from '../../../ports/tools.ts'
import { isWithin } from '../../../access/path-access.ts'
import { Output, showProgress } from './output.ts'
import { QUIET_ENVIRONMENT, type Running, startCommand } from './running.ts'
import { approvalPrefix } from '../../../shell-safety/approval-prefix.ts'
import { assessCommandLine } from '../../../shell-safety/assess-command.ts'
import { pathsNamed } from '../../../shell-safety/named-paths.ts'
import { openRoots } from '../../../workspace/resolve.ts'
import { type ResolvedPath, resolvePath } from '../toolset/paths.ts'
import { MAX_KEPT_CHARS, longResult, refuse, textResult } from '../toolset/result.ts'
import { type ToolCall, defineTool } from '../toolset/tool.ts'

/** Seconds. */
const USUAL_LIMIT = 120
const LONGEST_LIMIT = 3_600
/** Milliseconds that a command which is stopped may take to end before its result is told. */
const LAST_WORDS = 300

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
      .max(LONGEST_LIMIT)
      .optional()
      .describe(`Seconds until it is stopped. Default ${USUAL_LIMIT}.`),
    background: z.boolean().optional().describe('Go on at once and leave it running. Default false.'),
  }),
  kind: 'execute',
  readOnly: false,
  async preview({ command, cwd = '.' }, looking) {
    requireLine(command)
    const place = await resolvePath(cwd, looking).catch(() => undefined)
    return {
      title: `Run ${shownLine(command)}`,
      command: await previewOf(command, { cwd: place?.real, roots: looking.caller.roots }),
      ...(place && { paths: place.paths }),
    }
  },
  async run({ command, cwd = '.', timeout = USUAL_LIMIT, background = false }, call) {
    requireLine(command)
    const place = await resolvePath(cwd, call)
    // A terminal of the client is outside of the sandbox.
    const terminals = (await call.services.sandbox.isUsed()) ? undefined : call.caller.client.terminals
    if (background) return inBackground(command, place, call)
    const ended =
      terminals === undefined
        ? await byOurselves(command, { place, call, timeout })
        : await inTerminal(command, { place, call, timeout, terminals })
    return told(ended, call, timeout)
  },
})

interface Where {
  /** Absent where that is none of the session. */
  readonly cwd: string | undefined
  readonly roots: readonly string[]
}

/** What only reads, but outside of the directories of the session, is no longer known to do no harm. */
async function previewOf(line: string, { cwd, roots }: Where): Promise<PreviewedCommand> {
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

interface Manner {
  readonly place: ResolvedPath
  readonly call: ToolCall
  readonly timeout: number
}

async function inBackground(
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

async function byOurselves(line: string, { place, call, timeout }: Manner): Promise<Ended> {
  const { services, signal, caller } = call
  const running = await startCommand({ line, cwd: place.real, roots: caller.roots, ...services, signal })
  const endShow = showProgress(running.output, caller, services.clock)
  try {
    const why = await endOrReason(running, { call, timeout })
    // Whoever cancels wants to know now, and not when the last of its children is buried.
    if (why !== undefined) await waitAtMost(running.stop(), { clock: services.clock, ms: LAST_WORDS })
    return { text: running.output.from(0), exit: running.exit ?? {}, why }
  } finally {
    endShow()
  }
}

function endOrReason(
  { ended }: Pick<Running, 'ended'>,
  { call: { services, signal }, timeout }: Pick<Manner, 'call' | 'timeout'>,
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

async function inTerminal(
  line: string,
  { terminals, place, call, timeout }: Manner & { terminals: TurnTerminals },
): Promise<Ended> {
  const terminal = await terminals.create({
    command: '/bin/sh',
    args: ['-c', line],
    cwd: place.given,
    env: QUIET_ENVIRONMENT,
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
  const kept = new Output()
  kept.add(truncated ? `[The beginning was not kept.]\n${output}` : output)
  return {
    text: kept.from(0),
    exit: { code: exit?.exitCode ?? null, signal: exit?.signal ?? null },
    why,
    terminalId: terminal.id,
  }
}

function told({ text, exit, why, terminalId }: Ended, { caller }: ToolCall, timeout: number): ToolResult {
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
function requireLine(command: string): void {
  if (command.includes('\0')) refuse('A command cannot hold a NUL character.')
}
