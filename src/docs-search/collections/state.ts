/** Keys and collections that `parley docs` keeps in the state directory. Running servers pick up changes. */
import { createHash, randomBytes } from 'node:crypto'
import { opendir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fail } from '../../errors/parley-error.ts'
import type { Collection } from '../index/collections.ts'
import { tryLock } from '../../state-files/file-lock.ts'
import { hashOf } from '../../credentials/secret.ts'
import type { KnownKey } from '../keys/keys.ts'
import { Records } from '../keys/records.ts'

export interface KeyRecord {
  readonly sha256: string
  /** Absent: all of them, also those to come. */
  readonly collections?: readonly string[]
  readonly created: string
}

export interface CollectionRecord {
  /** Absolute. */
  readonly directory: string
}

export function keyRecords(home: string): Records<KeyRecord> {
  return new Records(join(home, 'docs-keys'), { what: 'key', parse: parseKey })
}

export function collectionRecords(home: string): Records<CollectionRecord> {
  return new Records(join(home, 'docs-collections'), { what: 'collection', parse: parseCollection })
}

/** Makes a key and stores its hash. The key itself is returned once and stored nowhere. */
export async function addKey(
  records: Records<KeyRecord>,
  name: string,
  collections?: readonly string[],
): Promise<string> {
  const key = randomBytes(24).toString('base64url')
  const created = new Date().toISOString()
  await records.add(name, { sha256: hashOf(key), ...(collections === undefined ? {} : { collections }), created })
  return key
}

export function knownKeys(records: ReadonlyMap<string, KeyRecord>): readonly KnownKey[] {
  return [...records].map(([name, { sha256, collections }]) => ({ name, sha256, collections: collections ?? 'all' }))
}

export function addedCollections(records: ReadonlyMap<string, CollectionRecord>): readonly Collection[] {
  return [...records].map(([name, { directory }]) => ({ name, path: directory }))
}

/** Where two collections have one name, the directory that was given at the start keeps it. */
export function merged(given: readonly Collection[], added: readonly Collection[]): readonly Collection[] {
  const names = new Set(given.map(({ name }) => name))
  return [...given, ...added.filter(({ name }) => !names.has(name))]
}

/** Throws DIRECTORY_MISSING. */
export async function checkDirectories(directories: readonly string[]): Promise<void> {
  const what = 'A directory to serve,'
  for (const path of directories) {
    const directory = await opendir(path).catch((error: unknown) => fail('DIRECTORY_MISSING', { what, path }, error))
    await directory.close()
  }
}

/** An index that no server has opened for so long is rebuilt when one does. */
const INDEX_KEPT_MS = 30 * 86_400_000

/** Where the index of these directories is kept; servers of the same ones share it, one after the other. */
export async function indexFileFor(home: string, directories: readonly string[]): Promise<string> {
  const folder = join(home, 'docs-index')
  // No index was kept yet if the folder is not there.
  const files = await readdir(folder).catch(() => [])
  for (const file of files.filter((one) => one.endsWith('.sqlite'))) await removeUnused(join(folder, file))
  const name = createHash('sha256').update(JSON.stringify(directories)).digest('hex').slice(0, 16)
  return join(folder, `${name}.sqlite`)
}

/** Removes an index unless a server has it open. The lock file stays, because otherwise two servers could have the lock. */
async function removeUnused(index: string): Promise<void> {
  const { mtimeMs } = await stat(index)
  if (Date.now() - mtimeMs <= INDEX_KEPT_MS) return
  const lock = tryLock(`${index}.lock`)
  if (lock === undefined) return
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(`${index}${suffix}`, { force: true })
  lock.release()
}

function parseKey(value: unknown): KeyRecord | undefined {
  if (!isObject(value)) return undefined
  const { sha256, collections, created } = value
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256) || typeof created !== 'string') return undefined
  if (collections === undefined) return { sha256, created }
  // An unreadable list of names must not open all collections.
  return { sha256, created, collections: Array.isArray(collections) ? collections.map(String) : [] }
}

function parseCollection(value: unknown): CollectionRecord | undefined {
  return isObject(value) && typeof value['directory'] === 'string' ? { directory: value['directory'] } : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
