/** Lines to standard output or to a file, which appears whole or not at all. */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createWriteStream, renameSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { fail, reasonOf } from '../../errors/parley-error.ts'

export interface OutputTarget {
  /** Standard output if absent. */
  readonly path: string | undefined
  readonly signal: AbortSignal
}

/** Characters that are written at once. */
const BLOCK = 64 * 1024

/** Throws EXPORT_UNWRITABLE, and what `lines` throws. Stops when the signal aborts. */
export async function writeOut(lines: AsyncIterable<string>, { path, signal }: OutputTarget): Promise<void> {
  if (path === undefined) return pour(lines, process.stdout, signal)
  const draft = `${path}.${process.pid}.part`
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600 })
  // The pending write rejects with it.
  file.on('error', () => undefined)
  try {
    await pour(lines, file, signal)
    file.end()
    await finished(file)
    if (!signal.aborted) renameSync(draft, path)
  } catch (error) {
    const cause = file.errored ?? error
    if (isSystemError(cause)) fail('EXPORT_UNWRITABLE', { path, reason: reasonOf(cause) }, cause)
    throw error
  } finally {
    file.destroy()
    await rm(draft, { force: true })
  }
}

async function pour(lines: AsyncIterable<string>, stream: Writable, signal: AbortSignal): Promise<void> {
  let block = ''
  const write = async (): Promise<void> => {
    const room = stream.write(block)
    block = ''
    // A reader that has left will never make room.
    if (!room && !stream.destroyed) await Promise.race([once(stream, 'drain'), once(stream, 'close')])
  }
  for await (const line of lines) {
    if (signal.aborted || stream.destroyed) return
    block += `${line}\n`
    if (block.length >= BLOCK) await write()
  }
  if (block !== '') await write()
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}
