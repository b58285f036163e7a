/** Where a key comes from, which keys are too weak, and how one is recognised without being kept. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hashOf } from '../../credentials/secret.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { createFile } from '../../state-files/atomic-file.ts'

export interface KeyRequest {
  /** The value of PARLEY_DOCS_KEY, if it is set. */
  readonly env?: string | undefined
  /** Read if it is there, written if it is not. */
  readonly file: string
  /** Only this machine can reach the server, so a weak key draws a warning instead of a refusal. */
  readonly loopback: boolean
}

export interface LoadedKey {
  readonly key: string
  readonly source: 'PARLEY_DOCS_KEY' | 'file' | 'new file'
  /** The key file, if the key is in one. Commands print its path, never the key. */
  readonly path?: string
  readonly warnings: readonly string[]
}

/** The key that MinDoc ships with; everyone knows it. */
const DEMO_KEY = 'demo-mcp-api-key'
const SHORTEST_KEY = 16

/** Throws DOCS_KEY_WEAK or DOCS_KEY_FILE. */
export async function loadKey({ env, file, loopback }: KeyRequest): Promise<LoadedKey> {
  if (env !== undefined && env !== '') {
    return { key: env, source: 'PARLEY_DOCS_KEY', warnings: accept(env, 'PARLEY_DOCS_KEY', loopback) }
  }
  const made = await makeKeyFile(file)
  if (made !== undefined) return { key: made, source: 'new file', path: file, warnings: [] }
  const key = await readKeyFile(file)
  const warnings = [...accept(key, file, loopback), ...(await openToOthers(file))]
  return { key, source: 'file', path: file, warnings }
}

/** Refuses a weak key, or warns of it where it can do little harm. */
function accept(key: string, source: string, loopback: boolean): readonly string[] {
  const reason = weaknessOf(key)
  if (reason === undefined) return []
  if (!loopback) fail('DOCS_KEY_WEAK', { source, reason })
  return [`The key from ${source} ${reason}; use 16 random characters or more.`]
}

export function weaknessOf(key: string): string | undefined {
  if (key === DEMO_KEY) return 'is the well-known demo key'
  return key.length < SHORTEST_KEY ? `has fewer than ${SHORTEST_KEY} characters` : undefined
}

/** Undefined when the file is there already. */
async function makeKeyFile(path: string): Promise<string | undefined> {
  const key = randomBytes(24).toString('base64url')
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    return createFile(path, `${key}\n`) ? key : undefined
  } catch (error) {
    return fail('DOCS_KEY_FILE', { path, reason: reasonOf(error) }, error)
  }
}

async function readKeyFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) =>
    fail('DOCS_KEY_FILE', { path, reason: reasonOf(error) }, error),
  )
  const key = text.trim()
  if (key === '' || /\s/.test(key)) return fail('DOCS_KEY_FILE', { path, reason: 'it must hold one key on one line' })
  return key
}

async function openToOthers(path: string): Promise<readonly string[]> {
  const { mode } = await stat(path)
  return (mode & 0o077) === 0 ? [] : [`The key file ${path} can be read by others on this machine; chmod it to 600.`]
}

/** Whose key it is and what it opens. */
export interface KeyHolder {
  /** Another key, or the same one with other rights, is another principal. */
  readonly id: string
  readonly name: string
  readonly collections: 'all' | readonly string[]
}

/** The stored form of a key, which does not contain the key. */
export interface KnownKey {
  readonly name: string
  /** Of the key, in hexadecimal digits. Keys are random and long, so a plain hash gives nothing away. */
  readonly sha256: string
  readonly collections: 'all' | readonly string[]
}

/** Opens every collection. */
function masterKey(key: string, name: string): KnownKey {
  return { name, sha256: hashOf(key), collections: 'all' }
}

/** The keys that are valid now. */
export class DocsKeys {
  readonly #fixed: readonly Ring[]
  #named: readonly Ring[] = []

  /** Throws DOCS_KEY_MISSING. The fixed ones stay for as long as the server runs. */
  constructor(fixed: readonly string[]) {
    if (fixed.length === 0 || fixed.includes('')) fail('DOCS_KEY_MISSING', {})
    this.#fixed = fixed.map((key, i) => ringOf(masterKey(key, i === 0 ? 'main' : `main-${i + 1}`)))
  }

  setNamed(keys: readonly KnownKey[]): void {
    this.#named = keys.map(ringOf)
  }

  /** Null for a wrong key. */
  principalOf(offered: string): KeyHolder | null {
    const wanted = createHash('sha256').update(offered).digest()
    // Every hash is compared, so that the time does not reveal which one came close.
    const rings = [...this.#fixed, ...this.#named]
    const matches = rings.map(({ hash }) => timingSafeEqual(hash, wanted))
    return rings[matches.indexOf(true)]?.principal ?? null
  }

  /** Whether this principal's key still opens the same. */
  knows({ id }: KeyHolder): boolean {
    return [...this.#fixed, ...this.#named].some(({ principal }) => principal.id === id)
  }
}

interface Ring {
  readonly hash: Buffer
  readonly principal: KeyHolder
}

function ringOf(key: KnownKey): Ring {
  const { name, sha256, collections } = key
  return { hash: Buffer.from(sha256, 'hex'), principal: { id: JSON.stringify(key), name, collections } }
}

/** A log without keys and without control sequences, which file names may contain. */
export function withoutKeys(keys: readonly string[], log: (line: string) => void): (line: string) => void {
  return (line) => {
    const hidden = line
      .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '\ufffd')
      .replace(/(api_key=)[^&\s"']*/gi, '$1***')
    log(keys.reduce((text, key) => (key === '' ? text : text.replaceAll(key, '***')), hidden))
  }
}
