/** Reads one document from the disk. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { decode } from './decode.ts'
import { formatOf } from './formats.ts'
import type { Outline } from './outline.ts'
import { type FoundFile, LARGEST_FILE } from './walk.ts'

export type Loaded =
  | { readonly outline: Outline; readonly mimeType: string }
  /** Why it is not in the index. */
  | { readonly skipped: string }

export async function load({ path, bytes }: Pick<FoundFile, 'path' | 'bytes'>): Promise<Loaded> {
  if (bytes > LARGEST_FILE) return { skipped: `it is larger than ${LARGEST_FILE / 1_000_000} MB` }
  const format = formatOf(basename(path))
  const text = decode(await read(path))
  if (text === null || format === undefined) return { skipped: 'it is not text' }
  return { outline: format.read(text), mimeType: format.mimeType }
}

/** A symbolic link that took the file's place is not followed. */
async function read(path: string): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}
