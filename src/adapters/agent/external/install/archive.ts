/** Downloads the archive of an agent and unpacks it into an empty folder. Nothing of it is run. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, normalize } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { fail, reasonOf } from '../../../../errors/parley-error.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import type { Unpacked } from './npm-install.ts'
import type { Tell } from './progress.ts'
import type { ArchiveSource, Wanted } from './wanted.ts'

export interface ArchiveTools {
  readonly tell: Tell
  readonly signal: Signal
  /** Of the archive, and of all that is in it. Absent, 2 GiB. */
  readonly maxBytes?: number
}

const MAX_BYTES = 2 * 1024 * 1024 * 1024

/** A zip, and what is packed with bzip2, is read into memory. */
const MAX_READ_BYTES = 512 * 1024 * 1024

const PROGRESS_EVERY = 1024 * 1024

/** Throws AGENT_INSTALL. Leaves what it did in the folder. */
export async function installFromArchive(
  { id, source }: Wanted & { readonly source: ArchiveSource },
  directory: string,
  tools: ArchiveTools,
): Promise<Unpacked> {
  const { url, command, sha256 } = source
  const program = normalize(command)
  const refuse = (reason: string, cause?: unknown): never => fail('AGENT_INSTALL', { agent: id, reason }, cause)
  if (!isSafe(url)) refuse(`${url} is not an https address`)
  if (isAbsolute(program) || program.split('/').includes('..')) refuse(`its program ${command} is outside the archive`)
  const file = join(directory, '.archive')
  try {
    const sum = await download(url, file, tools)
    if (sha256 !== undefined && sum !== sha256.toLowerCase())
      refuse(`the archive has the SHA-256 ${sum}, and ${sha256} was announced; nothing of it was unpacked`)
    tools.tell({ step: 'unpack' })
    await unpack(file, { name: new URL(url).pathname, directory, program, maxBytes: tools.maxBytes ?? MAX_BYTES })
    await rm(file, { force: true })
    await chmod(join(directory, program), 0o755)
    return { program, isScript: false, path: [], sum }
  } catch (error) {
    if (tools.signal.aborted) throw tools.signal.reason
    throw error instanceof Error && 'code' in error && error.code === 'AGENT_INSTALL' ? error : installError(id, error)
  }
}

function installError(id: string, error: unknown): Error {
  try {
    return fail('AGENT_INSTALL', { agent: id, reason: reasonOf(error) }, error)
  } catch (made) {
    return made as Error
  }
}

/** A program that comes without encryption can be exchanged on its way; on this machine it cannot. */
function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
}

/** The SHA-256 of what came. */
async function download(
  url: string,
  file: string,
  { tell, signal, maxBytes = MAX_BYTES }: ArchiveTools,
): Promise<string> {
  const response = await fetch(url, { signal: signal as AbortSignal })
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`)
  if (!isSafe(response.url)) throw new Error(`${url} leads to ${response.url}, which is not an https address`)
  const length = Number(response.headers.get('content-length') ?? Number.NaN)
  const total = Number.isFinite(length) ? { total: length } : {}
  const hash = createHash('sha256')
  let bytes = 0
  let reported = 0
  const counted = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) return done(new Error(`the archive is larger than ${maxBytes} bytes`))
      hash.update(chunk)
      if (bytes - reported >= PROGRESS_EVERY) {
        reported = bytes
        tell({ step: 'download', bytes, ...total })
      }
      done(null, chunk)
    },
  })
  await pipeline(Readable.from(response.body), counted, createWriteStream(file))
  tell({ step: 'download', bytes, ...total })
  return hash.digest('hex')
}

interface Unpacking {
  /** The name of the archive says what it is. */
  readonly name: string
  readonly directory: string
  readonly program: string
  readonly maxBytes: number
}

async function unpack(file: string, unpacking: Unpacking): Promise<void> {
  const { name, directory, program } = unpacking
  if (/\.(?:tar\.gz|tgz)$/u.test(name)) await unpackTar([createReadStream(file), createGunzip()], unpacking)
  else if (/\.(?:tar\.bz2|tbz2?)$/u.test(name)) await unpackTar([Readable.from(await unbzipped(file))], unpacking)
  else if (name.endsWith('.zip')) await unpackZip(file, unpacking)
  else if (/\.(?:tar\.\w+|txz|rar|7z)$/u.test(name))
    throw new Error(`${basename(name)} is packed in a way that Parley does not unpack; install the agent yourself`)
  else {
    await mkdir(dirname(join(directory, program)), { recursive: true })
    await rename(file, join(directory, program))
  }
  if (!(await isFile(join(directory, program)))) throw new Error(`there is no ${program} in the archive`)
}

async function unbzipped(file: string): Promise<Iterable<Uint8Array>> {
  const packed = await readBounded(file, MAX_READ_BYTES)
  const { unbzip2 } = await import('./bzip2.ts')
  return unbzip2(packed)
}

async function readBounded(file: string, limit: number): Promise<Uint8Array> {
  if ((await stat(file)).size > limit) throw new Error(`the archive is larger than ${limit} bytes`)
  return readFile(file)
}

async function unpackTar(
  tar: readonly (NodeJS.ReadableStream | NodeJS.ReadWriteStream)[],
  { directory, maxBytes }: Unpacking,
): Promise<void> {
  const { unpackTar: into } = await import('modern-tar/fs')
  let bytes = 0
  const counted = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.byteLength
      done(bytes > maxBytes ? new Error(`it unpacks to more than ${maxBytes} bytes`) : null, chunk)
    },
  })
  // Devices and pipes are no part of a program. The library refuses what leaves the folder, by its name or through a link.
  const filter = ({ type }: { readonly type?: string }): boolean =>
    type === undefined || ['file', 'directory', 'symlink', 'link'].includes(type)
  await pipeline([...tar, counted, into(directory, { filter })])
}

async function unpackZip(file: string, { directory, maxBytes }: Unpacking): Promise<void> {
  const limit = Math.min(maxBytes, MAX_READ_BYTES)
  const packed = await readBounded(file, limit)
  const { unzip } = await import('fflate')
  let bytes = 0
  const filter = ({ name, originalSize }: { readonly name: string; readonly originalSize: number }): boolean => {
    bytes += originalSize
    if (bytes > limit) throw new Error(`it unpacks to more than ${limit} bytes`)
    if (isAbsolute(name) || normalize(name).split(/[/\\]/u).includes('..'))
      throw new Error(`it has ${name} outside itself`)
    return !name.endsWith('/')
  }
  const files = await new Promise<Record<string, Uint8Array>>((resolve, reject) => {
    try {
      unzip(packed, { filter }, (error, result) => (error === null ? resolve(result) : reject(error)))
    } catch (error) {
      reject(error instanceof Error ? error : new Error(String(error)))
    }
  })
  for (const [name, content] of Object.entries(files)) {
    const path = join(directory, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
