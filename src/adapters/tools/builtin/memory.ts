/** What the tools of one session remember from call to call: which files were read, and what runs in the background. */
import { createHash } from 'node:crypto'

export interface SessionMemory {
  readonly files: FilesRead
}

/** Which text of a file the session has last seen, by its real path. */
export interface FilesRead {
  saw(real: string, text: string): void
  /** Undefined for a file that was never read. */
  isAsSeen(real: string, text: string): boolean | undefined
}

export function openMemory(): SessionMemory {
  return { files: openFilesRead() }
}

function openFilesRead(): FilesRead {
  const seen = new Map<string, string>()
  return {
    saw: (real, text) => void seen.set(real, digestOf(text)),
    isAsSeen: (real, text) => (seen.has(real) ? seen.get(real) === digestOf(text) : undefined),
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
