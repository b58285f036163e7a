/** The log file as the standard error of a server that a command starts; when the start fails, its last line is read. */
import { closeSync, fstatSync, openSync, readSync, statfsSync } from 'node:fs'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { logPathIn, parse, logSentence } from './log-line.ts'
import { makeDirectory } from '../../state-files/make-directory.ts'

export interface StartLog {
  readonly path: string
  /** For the new process to write to. */
  readonly descriptor: number
  /** The text that was written since, as one line; undefined when there is none. */
  lastWords(): string | undefined
  close(): void
}

const LAST = { lines: 3, bytes: 16 * 1024 }

/** Makes the state directory too. Throws SERVER_START_FAILED where nothing can be written. */
export function openStartLog(home: string): StartLog {
  const path = logPathIn(home)
  try {
    makeDirectory(home)
    const descriptor = openSync(path, 'a+', 0o600)
    const { size } = fstatSync(descriptor)
    return {
      path,
      descriptor,
      lastWords: () => wordsAfter(descriptor, size) ?? whyNothing(home),
      close: () => closeSync(descriptor),
    }
  } catch (error) {
    return fail('SERVER_START_FAILED', { log: path, reason: `${whyNotWritten(home, error)}.` }, error)
  }
}

const STILL_READ = 'what is stored can be read with parley ls, show, search and export'

function whyNotWritten(home: string, error: unknown): string {
  const { code } = error as { readonly code?: unknown }
  return code === 'EROFS' ? `the file system of ${home} is read-only; ${STILL_READ}` : reasonOf(error)
}

function wordsAfter(descriptor: number, before: number): string | undefined {
  const { size } = fstatSync(descriptor)
  const from = Math.max(before, size - LAST.bytes)
  const bytes = Buffer.alloc(Math.max(0, size - from))
  readSync(descriptor, bytes, 0, bytes.length, from)
  const lines = bytes.toString('utf8').split('\n').flatMap(wordsOfLine)
  // Of the many lines of a crash one names the error.
  const crash = lines.findLast((line) => /^(?:\[?\w*Error\b|Uncaught)/u.test(line))
  return crash ?? (lines.length === 0 ? undefined : lines.slice(-LAST.lines).join(' / '))
}

/** A server that dies because the disk is full cannot log the reason, so it is found here. */
function whyNothing(home: string): string | undefined {
  return statfsSync(home).bavail === 0
    ? `the disk is full, so nothing more can be stored in ${home}; ${STILL_READ}`
    : undefined
}

function wordsOfLine(line: string): readonly string[] {
  const record = parse(line)
  const text = record === undefined ? line.replace(/^parley: /u, '').trim() : logSentence(record)
  return text === '' ? [] : [text]
}
