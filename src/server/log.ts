/** What went wrong behind the scenes, as lines of JSON in the state directory; nothing is loaded before there is something to say. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

export type Report = (error: unknown) => void

/** Characters that wait for a disk with room; what is more is dropped. */
const MOST_UNWRITTEN = 256 * 1024

/** Errors carry no secrets: their details are those that clients may see. */
export function openLog(home: string): Report {
  let log: Promise<Report> | undefined
  return (error) => {
    log ??= openPino(home)
    void writeTo(log, error)
  }
}

async function writeTo(log: Promise<Report>, error: unknown): Promise<void> {
  const write = await log
  write(error)
}

async function openPino(home: string): Promise<Report> {
  try {
    const { pino } = await import('pino')
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const file = pino.destination({
      dest: join(home, 'parley.log'),
      sync: true,
      mode: 0o600,
      maxLength: MOST_UNWRITTEN,
    })
    // A disk that is full: it is told to whoever asked for something to be stored.
    file.on('error', () => undefined)
    const logger = pino({ base: { pid: process.pid } }, file)
    return (error) => logger.error(error)
  } catch {
    // A log that cannot be written must not stop the work that it would have told of.
    return () => undefined
  }
}
