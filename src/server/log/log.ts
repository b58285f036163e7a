/** The server's log, as lines of JSON in the state directory. The logging library is loaded with the first line. */
import { mkdirSync, renameSync, statSync } from 'node:fs'
import { logPathIn } from './log-line.ts'

export type Report = (error: unknown) => void

export interface Log {
  /** For failures in the background. Errors carry no secrets: their details are those that clients may see. */
  readonly report: Report
  /** An event for the readers of the log; never a secret. */
  note(sentence: string, details?: Readonly<Record<string, unknown>>): void
}

/** Characters that wait for a disk with room; further lines are dropped. */
const MOST_UNWRITTEN = 256 * 1024
/** Bytes. A longer log is renamed, which replaces the one that was renamed before it. */
const MAX_LOG_BYTES = 5 * 1024 * 1024

export function openLog(home: string): Log {
  let log: Promise<Log> | undefined
  const write = async (line: (open: Log) => void): Promise<void> => line(await (log ??= openPino(home)))
  return {
    report: (error) => void write((open) => open.report(error)),
    note: (sentence, details) => void write((open) => open.note(sentence, details)),
  }
}

/** Rotates the log. Only the owner of the state calls this, before it writes its first line. */
export function putLongLogAside(home: string): void {
  const path = logPathIn(home)
  try {
    if (statSync(path).size > MAX_LOG_BYTES) renameSync(path, `${path}.1`)
  } catch {
    // There is none yet; or it stays as long as it is.
  }
}

async function openPino(home: string): Promise<Log> {
  try {
    const { pino } = await import('pino')
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const file = pino.destination({ dest: logPathIn(home), sync: true, mode: 0o600, maxLength: MOST_UNWRITTEN })
    // A full disk: the append that fails reports it to its client.
    file.on('error', () => undefined)
    const logger = pino({ base: { pid: process.pid } }, file)
    return {
      report: (error) => logger.error(error),
      note: (sentence, details = {}) => logger.info(details, sentence),
    }
  } catch {
    // A log that cannot be written must not stop the server.
    return { report: () => undefined, note: () => undefined }
  }
}
