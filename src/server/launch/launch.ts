/** Connects to the server of a state directory, and starts it when no process listens on its socket. */
import { spawn } from 'node:child_process'
import { type Socket, connect } from 'node:net'
import { requirePrivate } from '../../config/socket.ts'
import { fail, isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { readPidFile, isAlive } from '../daemon/pid-file.ts'
import { type StartLog, openStartLog } from '../log/start-log.ts'
import { type StartLock, takeStartLock } from './start-lock.ts'

/** Which server. */
export interface ServerPlace {
  /** The state directory; absolute. */
  readonly home: string
  /** `config.socket`. */
  readonly socket: string
}

/** And what to start it with. */
export interface LaunchOptions extends ServerPlace {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The path of `bin/parley.mjs`. */
  readonly program: string
  /** Aborts when the caller does not need the connection any more. */
  readonly signal?: AbortSignal
}

/**
 * A server sits in memory all day, and what it makes is soon done with: a large nursery costs 15 MB and saves no time, and a
 * heap that may grow to four times what lives in it before it is swept keeps that size (48 MB after 20 turns at once). To
 * optimize the one large function of WebAssembly there is, which reads HTTP, takes 35 MB for a moment, and 6 MB stay.
 */
export const NODE_FLAGS = ['--max-semi-space-size=2', '--heap-growing-percent=40', '--liftoff-only']

/** Memory that one thread has freed can be used by the others. Otherwise each thread would keep its own (6 MB). */
export const NODE_ENVIRONMENT = { MALLOC_ARENA_MAX: '1' }

/** Milliseconds. */
const STEP = 10
const SLOW = 300
/** Whatever takes longer hangs. A server that stops gives its turns their time first. */
const START_TIMEOUT_MS = 30_000
/** Milliseconds. An owner that is no server never listens; one that has just begun may not have recorded yet what it is. */
const START_GRACE_MS = 2_000
const STATE_IN_USE = 75
/** The exit code of a background server whose problem only a user can fix: another start would fail the same way. */
export const EXIT_UNRECOVERABLE = 70

/** Throws SERVER_ABSENT when no process listens, and SOCKET_UNUSABLE where the socket could be that of another user. */
export async function dial(socket: string): Promise<Socket> {
  requirePrivate(socket, { make: false })
  for (;;) {
    const answer = await knock(socket)
    if (!(answer instanceof Error)) return answer
    switch (answer.code) {
      // The queue of the socket is full, so a server is running.
      case 'EAGAIN':
        await pause(STEP)
        break
      case 'EACCES':
      case 'EPERM':
        return fail('SOCKET_UNUSABLE', { path: socket, reason: reasonOf(answer) }, answer)
      default:
        return fail('SERVER_ABSENT', { socket }, answer)
    }
  }
}

/**
 * Resolves when the server accepts connections, no matter which process started it. Throws SERVER_START_FAILED, or
 * SERVER_CANNOT_START where another start would not help, and STATE_IN_USE when an owner that is no server has the state.
 * Calls `onProgress` when the start takes long.
 */
export async function startServer(where: LaunchOptions, onProgress?: (sentence: string) => void): Promise<void> {
  const slow = setTimeout(() => onProgress?.('Starting the Parley server …'), SLOW)
  const deadline = performance.now() + START_TIMEOUT_MS
  try {
    while (!(await accepts(where))) await startOnce(where, deadline)
  } finally {
    clearTimeout(slow)
  }
}

/** Whether the process ends within `ms`. */
export async function untilGone(pid: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms
  while (isAlive(pid)) {
    if (performance.now() > deadline) return false
    await pause(STEP)
  }
  return true
}

/** Resolves when a server accepts, or when it is worth another try. */
async function startOnce(where: LaunchOptions, deadline: number): Promise<void> {
  const log = openStartLog(where.home)
  let turn: StartLock | undefined
  try {
    turn = await turnToStart(where)
    if (turn === undefined) return
    const start = launch(where, log)
    const end = await acceptedOrEnded(where, start.ended, deadline)
    if (end === undefined) return start.stepBack()
    if (end.code === STATE_IN_USE) await untilServedOrFree(where, deadline)
    else fail(codeOf(end), { log: log.path, reason: sentenceOf(log.lastWords() ?? end.how) })
  } finally {
    turn?.over()
    log.close()
  }
}

/** Undefined when another process has started the server meanwhile. A start that takes long is not waited for. */
async function turnToStart(where: LaunchOptions): Promise<StartLock | undefined> {
  const doubted = performance.now() + START_GRACE_MS
  for (;;) {
    const turn = takeStartLock(where.home)
    // The former holder of the lock may have just started the server.
    const isServed = await accepts(where)
    if (turn !== undefined && !isServed) return turn
    turn?.over()
    if (isServed) return undefined
    if (performance.now() > doubted) return { over: () => undefined }
    await pause(STEP)
  }
}

function codeOf({ code }: End): 'SERVER_CANNOT_START' | 'SERVER_START_FAILED' {
  return code === EXIT_UNRECOVERABLE ? 'SERVER_CANNOT_START' : 'SERVER_START_FAILED'
}

function sentenceOf(words: string): string {
  return `${words.replace(/[.\s]+$/u, '')}.`
}

interface Start {
  readonly ended: Promise<End>
  /** Ends it when another server was faster, so that it does not take over from one that is soon stopped. */
  stepBack(): void
}

interface End {
  readonly code: number | null
  readonly how: string
}

/**
 * It inherits nothing: no pipe, no terminal, no directory that a user may want to unmount. The process that
 * start the server chooses neither its agent nor its end.
 */
function launch({ environment, home, program }: LaunchOptions, { descriptor }: StartLog): Start {
  const { PARLEY_CHILD: _child, PARLEY_AGENT: _agent, ...rest } = environment
  const child = spawn(process.execPath, [...NODE_FLAGS, program, 'serve', '--background'], {
    cwd: '/',
    env: { ...NODE_ENVIRONMENT, ...rest, PARLEY_HOME: home },
    detached: true,
    windowsHide: true,
    stdio: ['ignore', descriptor, descriptor],
  })
  child.unref()
  const ended = new Promise<End>((resolve) => {
    child.once('error', (error) => resolve({ code: null, how: reasonOf(error) }))
    child.once('exit', (code, signal) => resolve({ code, how: `it ended with ${signal ?? `exit code ${code}`}` }))
  })
  return {
    ended,
    stepBack() {
      const holder = readPidFile(home)
      if (holder !== undefined && holder.pid !== child.pid) child.kill()
    },
  }
}

/** Undefined when a server accepts. */
async function acceptedOrEnded(where: LaunchOptions, ended: Promise<End>, deadline: number): Promise<End | undefined> {
  let end: End | undefined
  const noticed = ended.then((how) => (end = how))
  while (!(await accepts(where))) {
    if (end !== undefined) return end
    if (performance.now() > deadline)
      return { code: null, how: `it did not answer within ${START_TIMEOUT_MS / 1000} s` }
    await Promise.race([pause(STEP), noticed])
  }
  return undefined
}

/** Another process owns the state: wait for a server that starts or stops, and for no other. */
async function untilServedOrFree(where: LaunchOptions, deadline: number): Promise<void> {
  const { home } = where
  const doubted = performance.now() + START_GRACE_MS
  while (!(await accepts(where))) {
    const holder = readPidFile(home)
    const until = holder?.isServer === true ? deadline : Math.min(doubted, deadline)
    if (holder === undefined && performance.now() < deadline) return pause(STEP)
    if (performance.now() > until) fail('STATE_IN_USE', { path: home, pid: holder?.pid ?? null })
    await pause(STEP)
  }
}

async function accepts({ socket, signal }: LaunchOptions): Promise<boolean> {
  signal?.throwIfAborted()
  try {
    const connection = await dial(socket)
    connection.destroy()
    return true
  } catch (error) {
    if (isParleyError(error, 'SERVER_ABSENT')) return false
    throw error
  }
}

function knock(socket: string): Promise<Socket | NodeJS.ErrnoException> {
  return new Promise((resolve) => {
    const connection = connect(socket)
    connection.once('error', resolve)
    connection.once('connect', () => {
      connection.off('error', resolve)
      resolve(connection)
    })
  })
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
