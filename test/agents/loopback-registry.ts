/** A registry of npm and an index of the ACP registry on loopback, with packages and archives that a test makes. */
import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
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

export class LoopbackRegistry {
  readonly #server: Server
  readonly #packages = new Map<string, { readonly manifest: Record<string, unknown>; readonly tarball: Buffer }[]>()
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
    this.#packages.set(name, [...(this.#packages.get(name) ?? []), { manifest, tarball }])
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
    return number === undefined ? JSON.stringify(this.#packument(name)) : versions[Number(number)]?.tarball
  }

  #packument(name: string): unknown {
    const versions = (this.#packages.get(name) ?? []).map(({ manifest, tarball }, at) => {
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
      const dist = { tarball: `${this.url}/${name}/-/${at}.tgz`, integrity }
      return [String(manifest['version']), { ...manifest, dist }] as const
    })
    return { name, 'dist-tags': { latest: versions.at(-1)?.[0] }, versions: Object.fromEntries(versions) }
  }
}

/** A tar.gz with these files. */
export async function tarGz(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const entries = Object.entries(files).map(([name, body]) => ({
    header: { name, size: Buffer.byteLength(body), mode: 0o755, type: 'file' as const },
    body,
  }))
  return gzipSync(await packTar(entries))
}
