/** Stops the running server from outside, and waits until its process has gone. */
import { fail, isParleyError } from '../errors/parley-error.ts'
import { askStatus, askToStop } from './ask.ts'
import { holderOf } from './holder.ts'
import { type Place, untilGone } from './launch.ts'

export interface Stopping {
  /** How long turns that run may still take. Milliseconds. */
  readonly graceMs: number
  /** Hears of it when there is something to wait for. */
  readonly onProgress: (sentence: string) => void
}

/** Beyond the grace: children that do not want to end are given seconds too. Milliseconds. */
const MORE = 30_000

/** The pid of the process that has gone; undefined when no server ran. Throws SERVER_SILENT when it does not go. */
export async function stopServer(place: Place, { graceMs, onProgress }: Stopping): Promise<number | undefined> {
  const pid = await pidOf(place)
  if (pid === undefined) return undefined
  const working = await toldToStop(place, { pid, graceMs })
  if (working > 0) onProgress(`Waiting for ${turns(working)}, up to ${graceMs / 1000} s …`)
  if (!(await untilGone(pid, graceMs + MORE))) fail('SERVER_SILENT', { pid })
  return pid
}

function turns(count: number): string {
  return `${count} running turn${count === 1 ? '' : 's'}`
}

async function pidOf(place: Place): Promise<number | undefined> {
  try {
    return (await askStatus(place)).pid
  } catch (error) {
    if (!isParleyError(error, 'SERVER_ABSENT') && !isParleyError(error, 'CONNECTION_LOST')) throw error
    // One that is stopping already listens no more, and is waited for all the same.
    const holder = holderOf(place.home)
    return holder?.isServer === true ? holder.pid : undefined
  }
}

/** How many turns it still has to wait for, as far as it says. */
async function toldToStop(place: Place, { pid, graceMs }: { pid: number; graceMs: number }): Promise<number> {
  try {
    return (await askToStop(place, { graceMs })).working
  } catch (error) {
    // One that listens no more is stopping already.
    if (isParleyError(error, 'SERVER_ABSENT')) return 0
    if (!isParleyError(error, 'CONNECTION_LOST')) throw error
    // One that lets nobody in, for want of descriptors, still hears this.
    process.kill(pid, 'SIGTERM')
    return 0
  }
}
