/** The commands that a session left running. They end with it. */
import { failTool } from '../toolset/tool-failure.ts'
import type { Running } from './running.ts'

/** How many may run at once. */
const MAX_RUNNING = 8
/** How many ended commands are kept, with their output. */
const MAX_ENDED = 8

export interface Background {
  /** Throws when there are too many. */
  requireRoom(): void
  /** Resolves with the name that it goes by from now on; a session that is closed ends it. */
  keep(running: Running): Promise<string>
  /** Throws for a name that none has. */
  find(id: string): BackgroundCommand
  close(): Promise<void>
}

export interface BackgroundCommand {
  readonly running: Running
  /** Up to where its output was read. */
  readTo: number
}

export function openBackground(): Background {
  const kept = new Map<string, BackgroundCommand>()
  let count = 0
  let isClosed = false
  const open = () => [...kept].filter(([, { running }]) => running.exit === undefined)
  /** Drops the ended commands that started first. */
  const forget = () => {
    const ended = [...kept].filter(([, { running }]) => running.exit !== undefined)
    for (const [id] of ended.slice(0, -MAX_ENDED)) kept.delete(id)
  }
  return {
    requireRoom() {
      const running = open().map(([id]) => id)
      if (running.length >= MAX_RUNNING)
        failTool(
          `${MAX_RUNNING} commands run in the background already (${running.join(', ')}). Stop one with command_output.`,
        )
    },
    async keep(running) {
      count += 1
      const id = `b${count}`
      kept.set(id, { running, readTo: 0 })
      forget()
      if (isClosed) await running.stop()
      return id
    },
    find(id) {
      const known = [...kept.keys()].join(', ') || 'none'
      return (
        kept.get(id) ??
        failTool(`There is no command ${JSON.stringify(id.slice(0, 40))} in the background; there are: ${known}.`)
      )
    },
    async close() {
      isClosed = true
      // Also stops ended commands, because background processes that they started may still run.
      await Promise.all([...kept.values()].map(({ running }) => running.stop()))
      kept.clear()
    },
  }
}
