/** A registry of npm and an index of the ACP registry on loopback, with what a test gives it: packages, archives, what is installed here. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'

export interface TestPackage {
  readonly name: string
  readonly version: string
  /** By their paths. */
  readonly files: Readonly<Record<string, string>>
  /** More fields of `package.json`. */
  readonly fields?: Readonly<Record<string, unknown>>
}

interface Version {
  readonly manifest: Readonly<Record<string, unknown>>
  readonly tarball: () => Buffer
}

export class LoopbackRegistry {
  readonly #server: Server
  readonly #packages = new Map<string, Version[]>()
  readonly #files = new Map<string, Buffer>()
  #index: readonly unknown[] = []
  /** The paths that were asked for. */
  readonly asked: string[] = []

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname)
      this.asked.push(path)
      const body = this.#bodyFor(path)
      if (body === undefined) response.writeHead(404).end('{}')
      else response.writeHead(200, { 'content-length': Buffer.byteLength(body) }).end(body)
    })
  }

  static async open(): Promise<LoopbackRegistry> {
    const registry = new LoopbackRegistry()
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve))
    return registry
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get indexUrl(): string {
    return `${this.url}/-/acp/registry.json`
  }

  async publish({ name, version, files, fields }: TestPackage): Promise<void> {
    const manifest = { name, version, ...fields }
    const all = { 'package.json': JSON.stringify(manifest), ...files }
    const tarball = await tarGz(
      Object.fromEntries(Object.entries(all).map(([path, text]) => [`package/${path}`, text])),
    )
    this.#offer(name, { manifest, tarball: () => tarball })
  }

  /** What was installed at `root` by its lockfile; packages of other platforms do not exist here. */
  publishInstalled(root: string): void {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, unknown>>
    }
    for (const path of Object.keys(packages)) {
      const [name = ''] = path.split('node_modules/').slice(-1)
      const place = join(root, path)
      if (name === '' || !existsSync(join(place, 'package.json'))) continue
      const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Version['manifest']
      let packed: Buffer | undefined
      this.#offer(name, { manifest, tarball: () => (packed ??= packedFrom(place)) })
    }
  }

  /** The packages whose content was asked for. */
  get fetched(): readonly string[] {
    return this.asked.flatMap((path) => TARBALL.exec(path)?.[1] ?? [])
  }

  #offer(name: string, version: Version): void {
    this.#packages.set(name, [...(this.#packages.get(name) ?? []), version])
  }

  /** The address of a file. */
  serve(path: string, content: Buffer): string {
    this.#files.set(path, content)
    return `${this.url}${path}`
  }

  /** The entries of the ACP registry. */
  list(agents: readonly unknown[]): void {
    this.#index = agents
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #bodyFor(path: string): Buffer | string | undefined {
    if (path === '/-/acp/registry.json') return JSON.stringify({ version: '1.0.0', agents: this.#index })
    const file = this.#files.get(path)
    if (file !== undefined) return file
    const [, name = '', number] = /^\/(.+?)(?:\/-\/(\d+)\.tgz)?$/u.exec(path) ?? []
    const versions = this.#packages.get(name)
    if (versions === undefined) return undefined
    return number === undefined ? JSON.stringify(this.#packument(name)) : versions[Number(number)]?.tarball()
  }

  #packument(name: string): unknown {
    const versions = (this.#packages.get(name) ?? []).map(({ manifest, tarball }, at) => {
      const integrity = `sha512-${createHash('sha512').update(tarball()).digest('base64')}`
      const dist = { tarball: `${this.url}/${name}/-/${at}.tgz`, integrity }
      return [String(manifest['version']), { ...manifest, dist }] as const
    })
    return { name, 'dist-tags': { latest: versions.at(-1)?.[0] }, versions: Object.fromEntries(versions) }
  }
}

const TARBALL = /^\/(.+)\/-\/\d+\.tgz$/u

function packedFrom(directory: string): Buffer {
  const args = ['-czf', '-', '--transform', 's,^\\.,package,', '--exclude', './node_modules', '-C', directory, '.']
  return execFileSync('tar', args, { maxBuffer: 100 * 1024 * 1024 })
}

/** A tar.gz with these files. */
export async function tarGz(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, body]) => ({
    header: { name, size: Buffer.byteLength(body), mode: 0o755, type: 'file' as const },
    body,
  }))
  return gzipSync(await packTar(entries))
}
