/** A registry of npm on loopback that has what stands in `node_modules` here, so that an install needs no network. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

export interface NpmRegistry {
  readonly url: string
  /** The packages whose content was asked for. */
  readonly installed: readonly string[]
  close(): void
}

/** `root` has a lockfile, and beside it what was installed of it: packages of other platforms do not exist here. */
export async function serveModules(root: string): Promise<NpmRegistry> {
  const { packages }: { readonly packages: Readonly<Record<string, unknown>> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  const placesOf = (name: string) =>
    Object.keys(packages)
      .filter((path) => path === `node_modules/${name}` || path.endsWith(`/node_modules/${name}`))
      .map((path) => join(root, path))
      .filter((path) => existsSync(join(path, 'package.json')))
  const tarballs = new Map<string, Buffer>()
  const tarballOf = (place: string): Buffer => {
    const tarball = tarballs.get(place) ?? packed(place)
    tarballs.set(place, tarball)
    return tarball
  }
  const installed: string[] = []
  const server = createServer((request, response) => {
    const [, name = '', at] = /^\/(.+?)(?:\/-\/(\d+)\.tgz)?$/u.exec(decodeURIComponent(request.url ?? '')) ?? []
    const places = placesOf(name)
    if (at !== undefined) installed.push(name)
    if (places.length === 0) response.writeHead(404).end('{}')
    else if (at === undefined) response.end(JSON.stringify(packument(name, places)))
    else response.end(tarballOf(places[Number(at)] ?? ''))
  })
  const packument = (name: string, places: readonly string[]): unknown => {
    const versions = places.map((place, at) => {
      const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as { readonly version: string }
      const integrity = `sha512-${createHash('sha512').update(tarballOf(place)).digest('base64')}`
      const dist = { tarball: `${urlOf(server.address())}/${name}/-/${at}.tgz`, integrity }
      return [manifest.version, { ...manifest, dist }] as const
    })
    return { name, 'dist-tags': { latest: versions[0]?.[0] }, versions: Object.fromEntries(versions) }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: urlOf(server.address()), installed, close: () => server.close() }
}

function urlOf(address: AddressInfo | string | null): string {
  return `http://127.0.0.1:${(address as AddressInfo).port}`
}

function packed(directory: string): Buffer {
  const args = ['-czf', '-', '--transform', 's,^\\.,package,', '--exclude', './node_modules', '-C', directory, '.']
  return execFileSync('tar', args, { maxBuffer: 100 * 1024 * 1024 })
}
