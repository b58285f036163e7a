/** `npm run sizes`: what an installation of Parley weighs, by npm package: what is bundled, and what stands beside it. */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The bundler writes before each source where it comes from. */
const SOURCE = /^\/\/ (?:\S*\/)?(src|node_modules\/(?:@[^/\s]+\/)?[^/\s]+)\/\S+$/u

/** The greatest first. */
export function bundledBytes(dist: string): readonly (readonly [string, number])[] {
  const bytes = new Map<string, number>()
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!/\.[cm]js$/u.test(path)) continue
    let from = 'src'
    for (const line of readFileSync(join(dist, path), 'utf8').split('\n')) {
      const [, source] = SOURCE.exec(line) ?? []
      from = source?.replace('node_modules/', '') ?? from
      bytes.set(from, (bytes.get(from) ?? 0) + Buffer.byteLength(line) + 1)
    }
  }
  return [...bytes].toSorted(([, a], [, b]) => b - a)
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** What npm installs with Parley on this machine. */
function installedBytes(): readonly (readonly [string, number])[] {
  const found = new Map<string, number>()
  const visit = (manifest: Manifest): void => {
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const directory = join(root, 'node_modules', name)
      // A binary for another machine is not there.
      if (found.has(name) || statSync(directory, { throwIfNoEntry: false }) === undefined) continue
      found.set(name, bytesBelow(directory))
      visit(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest)
    }
  }
  visit(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest)
  return [...found].toSorted(([, a], [, b]) => b - a)
}

function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => statSync(join(directory, path)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0)
}

function print(title: string, rows: readonly (readonly [string, number])[]): void {
  const sum = rows.reduce((total, [, bytes]) => total + bytes, 0)
  process.stdout.write(`${title}: ${megabytes(sum)}\n`)
  for (const [name, bytes] of rows) if (bytes > 20_000) process.stdout.write(`  ${megabytes(bytes)}  ${name}\n`)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(2).padStart(6)} MB`
}

print('bundled into dist', bundledBytes(join(root, 'dist')))
print('the page', [['dist/web', bytesBelow(join(root, 'dist/web'))]])
print('installed beside it', installedBytes())
