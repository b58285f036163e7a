/** Writes small files of the state and of the configuration whole or not at all, whatever ends the process in between. */
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { threadId } from 'node:worker_threads'

/** For the user's eyes only. */
const PRIVATE = 0o600

let drafts = 0

/** A reader sees what was there before or all of `text`. */
export function replaceFile(path: string, text: string, mode: number = PRIVATE): void {
  const draft = writeTemporary(path, text, mode)
  try {
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  syncDirectory(dirname(path))
}

/** False, with nothing changed, when there is such a file: of several that create one at once exactly one does. */
export function createFile(path: string, text: string): boolean {
  const draft = writeTemporary(path, text, PRIVATE)
  try {
    linkSync(draft, path)
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
  syncDirectory(dirname(path))
  return true
}

/** Makes an empty file for the user alone if there is none. */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', PRIVATE))
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  }
}

/** Of this process and thread alone, in the directory of the file, so that it can be renamed to it. */
function writeTemporary(path: string, text: string, mode: number): string {
  drafts += 1
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}-${threadId}-${drafts}`)
  try {
    writeFileSync(draft, text, { mode, flush: true })
    // The umask takes rights away and never adds any.
    chmodSync(draft, mode)
    return draft
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** A name is on the disk when its directory is. */
function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as { readonly code?: unknown } | undefined)?.code === code
}
