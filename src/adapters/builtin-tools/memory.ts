/** The memory of one session's tools between calls: which files were read, and which commands run in the background. */
import { createHash } from 'node:crypto'
import { SerialQueues } from '../../async/serial.ts'
import { type Background, openBackground } from './run/background.ts'

export interface SessionMemory {
  readonly files: FilesRead
  readonly background: Background
  /** Ends what runs in the background. Idempotent. */
  close(): Promise<void>
}

/** Which text of a file the session has last seen, by its real path. */
export interface FilesRead {
  saw(real: string, text: string): void
  /** Undefined for a file that was never read. */
  isAsSeen(real: string, text: string): boolean | undefined
  /** One change of a file at a time. */
  alone<Result>(real: string, change: () => Promise<Result>): Promise<Result>
}

export function openSessionMemory(): SessionMemory {
  const background = openBackground()
  return { files: openFilesRead(), background, close: () => background.close() }
}

function openFilesRead(): FilesRead {
  const seen = new Map<string, string>()
  const changes = new SerialQueues<string>()
  return {
    saw: (real, text) => void seen.set(real, hashOf(text)),
    isAsSeen: (real, text) => (seen.has(real) ? seen.get(real) === hashOf(text) : undefined),
    alone: (real, change) => changes.run(real, change),
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
