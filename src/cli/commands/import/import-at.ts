/** Imports a file on the server: by its path if the server shares this machine, otherwise by an upload in parts. */
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Config } from '../../../config/settings.ts'
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import { type AdminTarget, askToImport, askToUpload } from '../../../server/admin/admin-client.ts'
import type { ImportAnswer } from '../../../server/import/import-methods.ts'
import { remoteOf } from '../../remote/dial-remote.ts'

/** In base64 well below the limit of one message. */
const PART_BYTES = 3 * 1024 * 1024

/** Throws what is wrong with the file, and what keeps the server from being asked. */
export async function importAt(
  config: Config,
  path: string,
  { keepId }: { readonly keepId: boolean },
): Promise<ImportAnswer> {
  if (config.server === undefined) return askToImport(config, { path, keepId })
  const target = { ...config, ...(await remoteOf(config)) }
  return askToImport(target, { upload: await upload(target, path), name: basename(path), keepId })
}

/** The server deletes an upload that it has imported or refused, and in an hour one that was given up. */
async function upload(target: AdminTarget, path: string): Promise<string> {
  let id: string | undefined
  for await (const part of readParts(path)) id = await askToUpload(target, id, part)
  return id ?? askToUpload(target, undefined, Buffer.alloc(0))
}

/** Throws IMPORT_UNREADABLE. */
async function* readParts(path: string): AsyncGenerator<Buffer> {
  const unreadable = (error: unknown): never => fail('IMPORT_UNREADABLE', { path, reason: reasonOf(error) }, error)
  const file = await open(path).catch(unreadable)
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES).catch(unreadable)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}
