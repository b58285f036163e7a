/**
 * Child processes on Windows, which has neither process groups nor signals. libuv puts each child that is not detached into a
 * job that Windows ends with this process; what a child starts itself is not in that job.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { win32 } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import type { Child, Processes, ProcessSpec } from '../../../ports/process.ts'
import type { Signal } from '../../../ports/values/signal.ts'
import { type ProcessTree, openChild } from '../child.ts'
import { markerOf } from '../environment.ts'
import { type ProcessesOptions, abandon, exitOf, whyNot } from '../spawn.ts'
import { type CommandLine, commandLine } from './command-line.ts'
import { windowsEnvironment } from './environment.ts'
import { findCommand } from './find-command.ts'

/** Calls that exist only on Windows. */
export interface WindowsSystem {
  isFile(path: string): Promise<boolean>
  start(line: CommandLine, where: { readonly cwd: string; readonly env: Record<string, string> }): ChildProcess
  /** Ends a process and those below it: `/PID 12 /T`, with `/F` at once. Never throws. */
  taskkill(systemRoot: string, args: readonly string[]): void
}

const DEFAULT_ROOT = 'C:\\Windows'

export function windowsProcesses(
  { boot, environment, clock }: ProcessesOptions,
  system: WindowsSystem = thisSystem,
): Processes {
  const children = new Set<Child>()
  let starts = 0
  let closed: Promise<void> | undefined

  async function start(spec: ProcessSpec, signal: Signal | undefined): Promise<Child> {
    starts += 1
    const marker = `${markerOf(boot)}-${starts}`
    const inherited = spec.isWholeEnvironment ? {} : environment
    const env = windowsEnvironment(inherited, { added: spec.env, marker })
    const { PATH: path, PATHEXT: extensions, SYSTEMROOT: systemRoot = DEFAULT_ROOT } = env
    const lookup = { command: spec.command, cwd: spec.cwd, path, extensions }
    const file = await findCommand(lookup, (candidate) => system.isFile(candidate))
    const line = commandLine({ file, args: spec.args, systemRoot })
    const process = await started(system.start(line, { cwd: spec.cwd, env }), spec)
    const [stdin, stdout, stderr] = process.stdio as unknown as [Writable, Readable, Readable]
    const pid = process.pid as number
    const ended = exitOf(process)
    const tree = processTree(pid, (args) => system.taskkill(systemRoot, args))
    const child = openChild(
      { command: spec.command, tree, pid, ended, stdin, stdout, stderr },
      { clock, onStderr: spec.onStderr, onGone: (gone) => void children.delete(gone) },
    )
    children.add(child)
    return signal?.aborted || closed ? abandon(child, spec, signal) : child
  }

  return {
    async spawn(spec, signal) {
      const refusal = whyNot(spec, { aborted: signal?.aborted === true, closed: closed !== undefined })
      if (refusal !== undefined) fail('PROCESS_SPAWN', { command: spec.command, reason: refusal }, signal?.reason)
      return await start(spec, signal)
    },
    close() {
      closed ??= Promise.all([...children].map((child) => child.stop())).then(() => undefined)
      return closed
    },
  }
}

/** A closed stdin is what ends a console program here; taskkill without `/F` reaches only programs with a window. */
function processTree(pid: number, taskkill: (args: readonly string[]) => void): ProcessTree {
  const tree = ['/PID', String(pid), '/T']
  return {
    terminate: () => taskkill(tree),
    kill: () => taskkill([...tree, '/F']),
    // Without the child nothing leads to what it has started, and its number may be that of another process by now.
    childExited: () => undefined,
    gone: async () => undefined,
    usage: async () => undefined,
  }
}

async function started(process: ChildProcess, { command, cwd }: ProcessSpec): Promise<ChildProcess> {
  try {
    await once(process, 'spawn')
    return process
  } catch (error) {
    // The file was found, so ENOENT means the directory.
    const isDirectory = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return fail(
      'PROCESS_SPAWN',
      { command, reason: isDirectory ? `${cwd} is not a directory` : reasonOf(error) },
      error,
    )
  }
}

const thisSystem: WindowsSystem = {
  isFile: (path) =>
    stat(path).then(
      (found) => found.isFile(),
      () => false,
    ),
  start: ({ file, args, isVerbatim }, { cwd, env }) =>
    spawn(file, args, { cwd, env, stdio: 'pipe', windowsHide: true, windowsVerbatimArguments: isVerbatim }),
  taskkill(systemRoot, args) {
    // It fails when the process has just ended.
    execFile(win32.join(systemRoot, 'System32', 'taskkill.exe'), args, { windowsHide: true }, () => undefined)
  },
}
