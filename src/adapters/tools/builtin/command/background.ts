/** The commands that a session left running. They end with it. */
import { refuse } from '../result.ts'
import type { Running } from './running.ts'

/** How many may run at once. */
const MOST = 8

export interface Background {
  /** Throws when there are too many. */
  requireRoom(): void
  /** Resolves with the name that it goes by from now on; a session that is closed ends it. */
  keep(running: Running): Promise<string>
  /** Throws for a name that none has. */
  find(id: string): Kept
  close(): Promise<void>
}

export interface Kept {
  readonly running: Running
  /** Up to where its output was read. */
  readTo: number
}

export function openBackground(): Background {
  const kept = new Map<string, Kept>()
  let isClosed = false
  const open = () => [...kept].filter(([, { running }]) => running.exit === undefined)
  return {
    requireRoom() {
      const running = open().map(([id]) => id)
      if (running.length >= MOST)
        refuse(`${MOST} commands run in the background already (${running.join(', ')}). Stop one with command_output.`)
    },
    async keep(running) {
      const id = `b${kept.size + 1}`
      kept.set(id, { running, readTo: 0 })
      if (isClosed) await running.stop()
      return id
    },
    find(id) {
      const known = [...kept.keys()].join(', ') || 'none'
      return (
        kept.get(id) ??
        refuse(`There is no command ${JSON.stringify(id.slice(0, 40))} in the background; there are: ${known}.`)
      )
    },
    async close() {
      isClosed = true
      await Promise.all(open().map(([, { running }]) => running.stop()))
    },
  }
}
