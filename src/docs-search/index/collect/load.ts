/** Reads one document from the disk. */
import { basename } from 'node:path'
import { readableText } from '../../../workspace/encoding.ts'
import { bytesAt } from '../../../workspace/files.ts'
import { withResolvedPath } from '../../../workspace/resolve-in-roots.ts'
import { documentFormatOf, type PackedFormat } from './formats.ts'
import type { Outline } from '../document/outline.ts'
import type { IndexableFile } from './walk.ts'

export type LoadedFile =
  | { readonly outline: Outline; readonly mimeType: string }
  /** Why it is not in the index. */
  | { readonly skipped: string }

/** Reads what only a library can, with limits; throws what is wrong with the file. */
export type Unpack = (kind: PackedFormat, bytes: Uint8Array) => Promise<Outline>

export async function load(found: Pick<IndexableFile, 'root' | 'path' | 'bytes'>, unpack: Unpack): Promise<LoadedFile> {
  const { path, bytes } = found
  const format = documentFormatOf(basename(path), true)
  if (format === undefined) return { skipped: 'it is not text' }
  const { largest, mimeType } = format
  if (bytes > largest) return { skipped: `it is larger than ${largest / 1_000_000} MB` }
  const content = await read(found, largest)
  if ('packed' in format) return { outline: await unpack(format.packed, content), mimeType }
  const text = readableText(content)
  return text === null ? { skipped: 'it is not text' } : { outline: format.read(text), mimeType }
}

/** A link that took the place of the file, or of a directory on the way to it, is not followed, wherever it leads. */
function read({ root, path }: Pick<IndexableFile, 'root' | 'path'>, limit: number): Promise<Uint8Array> {
  const roots = [{ given: root, real: root }]
  return withResolvedPath(path, { roots, links: 'never' }, (place) => bytesAt(place, { roots, limit }))
}
