/** Reads one document from the disk. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { decode } from './decode.ts'
import { formatOf, type Packed } from './formats.ts'
import type { Outline } from './outline.ts'
import type { FoundFile } from './walk.ts'

export type Loaded =
  | { readonly outline: Outline; readonly mimeType: string }
  /** Why it is not in the index. */
  | { readonly skipped: string }

/** Reads what only a library can, with limits; throws what is wrong with the file. */
export type Unpack = (kind: Packed, bytes: Uint8Array) => Promise<Outline>

export async function load({ path, bytes }: Pick<FoundFile, 'path' | 'bytes'>, unpack: Unpack): Promise<Loaded> {
  const format = formatOf(basename(path), true)
  if (format === undefined) return { skipped: 'it is not text' }
  const { largest, mimeType } = format
  if (bytes > largest) return { skipped: `it is larger than ${largest / 1_000_000} MB` }
  const content = await read(path)
  if ('packed' in format) return { outline: await unpack(format.packed, content), mimeType }
  const text = decode(content)
  return text === null ? { skipped: 'it is not text' } : { outline: format.read(text), mimeType }
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
