/** Stops the running server from outside, and waits until its process has gone: asks it, then signals it, then kills it. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import { askStatus, askToStop } from '../admin/admin-client.ts'
import { readPidFile } from '../daemon/pid-file.ts'
import { type ServerPlace, untilGone } from './launch.ts'

export interface StopOptions {
  /** How long turns that run may still take. Milliseconds. */
  readonly graceMs: number
  /** Called when there is something to wait for. */
  readonly onProgress: (sentence: string) => void
}

/** Beyond the grace: children that do not want to end are given seconds too. Milliseconds. */
const MORE_MS = 30_000
/** A server that can still run its own code begins to end within this after SIGTERM. Milliseconds. */
const TERM_MS = 5_000
/** Also a process that is killed may take its time, if a disk does. Milliseconds. */
const KILL_MS = 10_000

/**
 * Returns the pid of the process that has ended; undefined when no server ran. Throws SERVER_SILENT when not even killing
 * ends it. Stored entries are safe however it ends, and the guard ends its children.
 */
export async function stopServer(place: ServerPlace, stopping: StopOptions): Promise<number | undefined> {
  const { pid, doesAnswer } = await findServer(place)
  if (pid === undefined) return undefined
  if (doesAnswer && (await hasStopped(place, pid, stopping))) return pid
  return await forceToEnd(place, pid, stopping)
}

interface FoundServer {
  readonly pid: number | undefined
  readonly doesAnswer: boolean
}

async function findServer(place: ServerPlace): Promise<FoundServer> {
  try {
    return { pid: (await askStatus(place)).pid, doesAnswer: true }
  } catch (error) {
    const isSilent = isParleyError(error, 'SERVER_SILENT')
    if (!isSilent && !isParleyError(error, 'SERVER_ABSENT') && !isParleyError(error, 'CONNECTION_LOST')) throw error
    // A server that is already stopping does not listen any more. It is waited for all the same.
    return { pid: serverAt(place), doesAnswer: !isSilent }
  }
}

/** Only a process that holds the lock of this state directory is ever signalled. */
function serverAt({ home }: ServerPlace): number | undefined {
  const holder = readPidFile(home)
  return holder?.isServer === true ? holder.pid : undefined
}

/** False when it does not answer, or does not go in its time. */
async function hasStopped(place: ServerPlace, pid: number, { graceMs, onProgress }: StopOptions): Promise<boolean> {
  const working = await toldToStop(place, { pid, graceMs })
  if (working === undefined) return false
  if (working > 0) onProgress(`Waiting for ${turns(working)}, up to ${graceMs / 1000} s …`)
  return await untilGone(pid, graceMs + MORE_MS)
}

function turns(count: number): string {
  return `${count} running turn${count === 1 ? '' : 's'}`
}

/** How many turns it still has to wait for, as far as it says; undefined when it says nothing at all. */
async function toldToStop(
  place: ServerPlace,
  { pid, graceMs }: { pid: number; graceMs: number },
): Promise<number | undefined> {
  try {
    return (await askToStop(place, { graceMs })).working
  } catch (error) {
    // A server that does not listen any more is already stopping.
    if (isParleyError(error, 'SERVER_ABSENT')) return 0
    if (isParleyError(error, 'SERVER_SILENT')) return undefined
    if (!isParleyError(error, 'CONNECTION_LOST')) throw error
    // A server without free descriptors accepts no connection, but still gets signals.
    process.kill(pid, 'SIGTERM')
    return 0
  }
}

async function forceToEnd(place: ServerPlace, pid: number, { onProgress }: StopOptions): Promise<number> {
  onProgress(`The server (pid ${pid}) does not stop when asked; sending it SIGTERM …`)
  signal(place, pid, 'SIGTERM')
  if (await untilGone(pid, TERM_MS)) return pid
  onProgress(`It did not end within ${TERM_MS / 1000} s; killing it. What was stored is safe.`)
  signal(place, pid, 'SIGKILL')
  if (await untilGone(pid, KILL_MS)) return pid
  return fail('SERVER_SILENT', { pid })
}

/** The number may belong to another process by now. */
function signal(place: ServerPlace, pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  if (serverAt(place) !== pid) return
  try {
    process.kill(pid, name)
  } catch {
    // It has gone just now.
  }
}
