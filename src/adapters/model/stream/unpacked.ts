/** Answers that come packed although they were asked for as they are: some proxies pack everything. */
import { type Readable, pipeline } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

/** Words are passed on as they come, not once a block of them is full. */
const eager = { flush: constants.Z_SYNC_FLUSH }

const unpackers: ReadonlyMap<string, () => NodeJS.ReadWriteStream> = new Map([
  ['gzip', () => createGunzip(eager)],
  ['x-gzip', () => createGunzip(eager)],
  ['deflate', () => createInflate(eager)],
  ['br', () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
])

/** What its header says was done to it is undone, last first; what nobody can undo is left as it is. */
export function unpacked(body: Readable, encoding: string | readonly string[] | undefined): Readable {
  const packers = [encoding ?? []].flat().join(',').split(',')
  return packers.reduceRight((packed, name) => {
    const unpack = unpackers.get(name.trim().toLowerCase())
    // What goes wrong is told to whoever reads the result.
    return unpack === undefined ? packed : (pipeline(packed, unpack(), () => undefined) as unknown as Readable)
  }, body)
}
