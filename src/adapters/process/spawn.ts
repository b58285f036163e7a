/** Starts child processes that never outlive the server: the guard knows the process group of each before its program starts. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Child, Processes, ProcessExit, ProcessSpec } from '../../ports/process.ts'
import type { Signal } from '../../ports/values/signal.ts'
import { keepUnread, openChild, type Started } from './child.ts'
import { childEnvironment, markerOf, unpassableName, type Boot } from './environment.ts'
import { openGuard, type Guard } from './guard.ts'
import { processGroup } from './process-group.ts'

export interface ProcessesOptions {
  readonly boot: Boot
  /** The whole environment of this process; children get the allow-listed part. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** In a cluster: children run while this node may have effects. It calls the listener with how long that is, in milliseconds. */
  readonly whenRenewed?: ((listener: (ms: number) => void) => void) | undefined
}

/** The child writes its group to the guard (3), confirms it to us (4), and then becomes the program, without either descriptor. */
const REGISTER_THEN_EXEC = 'echo "+$$" >&3 && echo ok >&4 && exec "$@" 3>&- 4>&-'

export function groupProcesses({ boot, environment, clock, whenRenewed }: ProcessesOptions): Processes {
  const guard = openGuard({ marker: markerOf(boot), path: environment.PATH, clock })
  whenRenewed?.((ms) => guard.renew(ms))
  const children = new Set<Child>()
  let starts = 0
  let closed: Promise<void> | undefined

  async function start(spec: ProcessSpec, signal: Signal | undefined): Promise<Child> {
    starts += 1
    const marker = `${markerOf(boot)}-${starts}`
    const inherited = spec.isWholeEnvironment ? {} : environment
    const env = childEnvironment(inherited, { cwd: spec.cwd, added: spec.env, marker })
    const file = await findCommand({ command: spec.command, cwd: spec.cwd, path: env.PATH })
    const launch: Launch = { spec, file, env, marker, clock }
    const started = (await register(guard, launch)) ?? (await register(guard, launch))
    if (started === undefined) return fail('PROCESS_SPAWN', { command: spec.command, reason: 'it was ended at once' })
    const child = openChild(started, {
      clock,
      onStderr: spec.onStderr,
      onGone: (gone) => {
        children.delete(gone)
        guard.forget(gone.pid)
      },
    })
    children.add(child)
    return signal?.aborted || closed ? abandon(child, spec, signal) : child
  }

  async function close(): Promise<void> {
    await Promise.all([...children].map((child) => child.stop()))
    await guard.close()
  }

  return {
    async spawn(spec, signal) {
      const refusal = whyNot(spec, { aborted: signal?.aborted === true, closed: closed !== undefined })
      if (refusal !== undefined) fail('PROCESS_SPAWN', { command: spec.command, reason: refusal }, signal?.reason)
      return await start(spec, signal)
    },
    close() {
      closed ??= close()
      return closed
    },
  }
}

export function whyNot(
  spec: ProcessSpec,
  now: { readonly aborted: boolean; readonly closed: boolean },
): string | undefined {
  if (now.closed) return 'Parley is stopping'
  if (now.aborted) return 'the start was cancelled'
  const name = unpassableName(spec.env)
  return name === undefined
    ? undefined
    : `its environment variable ${JSON.stringify(name)} has a name that cannot be passed on`
}

/** The program may have begun: it is asked to end, as any other is, before it is killed. */
export async function abandon(child: Child, spec: ProcessSpec, signal: Signal | undefined): Promise<never> {
  await child.stop(undefined, 0)
  return fail(
    'PROCESS_SPAWN',
    { command: spec.command, reason: 'it was cancelled as it started, and stopped' },
    signal?.reason,
  )
}

interface Launch {
  readonly spec: ProcessSpec
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  readonly marker: string
  readonly clock: Clock
}

/**
 * Starts the program and resolves once the guard knows its group. Undefined when the shell ended before it could confirm that, which
 * happens when the guard has just died: the next attempt finds the next guard.
 */
async function register(guard: Guard, launch: Launch): Promise<Started | undefined> {
  const child = await launched(await channelOf(guard, launch), launch)
  const ended = exitOf(child)
  const [stdin, stdout, stderr, , guardSaid] = child.stdio as unknown as [Writable, Readable, Readable, null, Readable]
  // A short program has often ended before the answer of the guard is read.
  keepUnread(stdout, stderr)
  const pid = child.pid as number
  guard.remember(pid)
  if (await hasData(guardSaid))
    return { command: launch.spec.command, tree: processGroup(pid, launch), pid, ended, stdin, stdout, stderr }
  await ended
  for (const stream of [stdin, stdout, stderr]) stream.destroy()
  guard.forget(pid)
  return undefined
}

function channelOf(guard: Guard, { spec }: Launch): Promise<Writable> {
  return guard.channel().catch((error: unknown) => {
    return fail(
      'PROCESS_SPAWN',
      { command: spec.command, reason: `no guard could be started (${reasonOf(error)})` },
      error,
    )
  })
}

async function launched(channel: Writable, { spec, file, env }: Launch): Promise<ChildProcess> {
  const child = spawn('/bin/sh', ['-c', REGISTER_THEN_EXEC, 'sh', file, ...spec.args], {
    cwd: spec.cwd,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', channel, 'pipe'],
  })
  try {
    await once(child, 'spawn')
    return child
  } catch (error) {
    // The shell always exists, so ENOENT means the directory.
    const code = (error as NodeJS.ErrnoException).code
    const reason = code === 'ENOENT' ? `${spec.cwd} is not a directory` : reasonOf(error)
    return fail('PROCESS_SPAWN', { command: spec.command, reason }, error)
  }
}

export function exitOf(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
}

/** Resolves with true on the first data, with false when the stream ends without any. */
async function hasData(stream: Readable): Promise<boolean> {
  const heard = await new Promise<boolean>((resolve) => {
    stream.once('data', () => resolve(true))
    stream.once('close', () => resolve(false))
    stream.once('error', () => resolve(false))
  })
  stream.destroy()
  return heard
}

interface Lookup {
  readonly command: string
  readonly cwd: string
  /** The child's PATH, not ours. */
  readonly path: string | undefined
}

/** The absolute path to execute. Throws COMMAND_NOT_FOUND or COMMAND_NOT_EXECUTABLE. */
async function findCommand({ command, cwd, path }: Lookup): Promise<string> {
  let blocked: string | undefined
  for (const candidate of candidates({ command, cwd, path })) {
    const state = await examine(candidate)
    if (state === 'executable') return candidate
    if (state === 'blocked') blocked ??= candidate
  }
  if (blocked !== undefined) fail('COMMAND_NOT_EXECUTABLE', { command: blocked })
  return fail('COMMAND_NOT_FOUND', { command })
}

function candidates({ command, cwd, path }: Lookup): readonly string[] {
  if (command === '') return []
  if (command.includes('/')) return [resolve(cwd, command)]
  // An empty or relative entry would mean the session's directory, and so a program of the project.
  const folders = (path ?? '/usr/local/bin:/usr/bin:/bin').split(':').filter((folder) => isAbsolute(folder))
  return folders.map((folder) => resolve(folder, command))
}

async function examine(file: string): Promise<'missing' | 'blocked' | 'executable'> {
  try {
    if (!(await stat(file)).isFile()) return 'blocked'
  } catch {
    // A file that cannot be seen cannot be run either: the search continues.
    return 'missing'
  }
  return access(file, constants.X_OK).then(
    () => 'executable',
    () => 'blocked',
  )
}
