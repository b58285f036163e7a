/** `npm run sizes`: what an installation of Parley weighs, by npm package: what is bundled, and what stands beside it. */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'rolldown'
import config from '../rolldown.config.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The greatest first. The bundles are made anew, in memory, because only the bundler knows what went where. */
async function bundledBytes(): Promise<readonly (readonly [string, number])[]> {
  const bytes = new Map<string, number>()
  for (const options of config) {
    for (const chunk of (await build({ ...(options as BuildOptions), write: false })).output) {
      if (chunk.type !== 'chunk') continue
      const modules = Object.entries(chunk.modules)
      // Lengths of modules are those before white space was removed.
      const whole = modules.reduce((sum, [, { renderedLength }]) => sum + renderedLength, 0)
      for (const [id, { renderedLength }] of modules) {
        const name = packageOf(id)
        bytes.set(name, (bytes.get(name) ?? 0) + (Buffer.byteLength(chunk.code) * renderedLength) / Math.max(whole, 1))
      }
    }
  }
  return [...bytes].toSorted(([, a], [, b]) => b - a)
}

function packageOf(id: string): string {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/u.exec(id)?.[1] ?? 'src'
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

print('bundled into dist', await bundledBytes())
print('the page', [['dist/web', bytesBelow(join(root, 'dist/web'))]])
print('installed beside it', installedBytes())
