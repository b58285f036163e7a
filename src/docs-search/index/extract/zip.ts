/** Files in a ZIP archive, none of which may unfold to more than a document can be. */
import { unzipSync, type UnzipFileInfo } from 'fflate'

const MAX_UNPACKED_BYTES = 200_000_000
const MAX_FILES = 20_000

/** The files whose names are wanted. Throws when the archive says that it would unfold to too much. */
export function unzipped(bytes: Uint8Array, wanted: (name: string) => boolean): Readonly<Record<string, Uint8Array>> {
  return unzipSync(bytes, { filter: countingFilter(({ name }) => wanted(name)) })
}

/** For readers that unfold by themselves. */
export function checkSize(bytes: Uint8Array): void {
  const count = countingFilter(() => true)
  unzipSync(bytes, {
    filter(file) {
      count(file)
      return false
    },
  })
}

function countingFilter(filter: (file: UnzipFileInfo) => boolean): (file: UnzipFileInfo) => boolean {
  let files = 0
  let total = 0
  return (file) => {
    if (!filter(file)) return false
    files += 1
    total += file.originalSize
    if (files > MAX_FILES || total > MAX_UNPACKED_BYTES) throw new Error('it unfolds to more than 200 MB')
    return true
  }
}
