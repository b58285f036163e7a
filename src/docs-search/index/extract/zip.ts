/** Files in a ZIP archive, none of which may unfold to more than a document can be. */
import { unzipSync, type UnzipFileInfo } from 'fflate'

const MOST_BYTES = 200_000_000
const MOST_FILES = 20_000

/** The files whose names are wanted. Throws when the archive says that it would unfold to too much. */
export function unzipped(bytes: Uint8Array, wanted: (name: string) => boolean): Readonly<Record<string, Uint8Array>> {
  return unzipSync(bytes, { filter: counting(({ name }) => wanted(name)) })
}

/** For readers that unfold by themselves. */
export function checkSize(bytes: Uint8Array): void {
  const count = counting(() => true)
  unzipSync(bytes, {
    filter(file) {
      count(file)
      return false
    },
  })
}

function counting(filter: (file: UnzipFileInfo) => boolean): (file: UnzipFileInfo) => boolean {
  let files = 0
  let total = 0
  return (file) => {
    if (!filter(file)) return false
    files += 1
    total += file.originalSize
    if (files > MOST_FILES || total > MOST_BYTES) throw new Error('it unfolds to more than 200 MB')
    return true
  }
}
