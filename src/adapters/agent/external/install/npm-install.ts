/** Installs a package of npm into an empty folder, with the user's own npm and its settings. */
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { z } from 'zod'
import { fail } from '../../../../errors/parley-error.ts'
import type { Processes } from '../../../../ports/process.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { type FoundNode, pathWith } from '../find/find-node.ts'
import type { Tell } from './progress.ts'
import { runInstaller } from './run-installer.ts'
import type { NpmSource, Wanted } from './wanted.ts'

export interface NpmTools {
  readonly processes: Processes
  /** PATH, and the settings of npm that the environment has. */
  readonly environment: Readonly<Record<string, string>>
  readonly node: FoundNode
  readonly tell: Tell
  readonly signal: Signal
}

/** Paths are relative to the folder. */
export interface Unpacked {
  readonly program: string
  readonly isScript: boolean
  readonly path: readonly string[]
  readonly sum?: string
}

const QUIET = ['--no-audit', '--no-fund', '--no-package-lock', '--no-update-notifier', '--loglevel=error'] as const

/** Throws AGENT_INSTALL. Leaves what it did in the folder. */
export async function installFromNpm(
  { id, version, source }: Wanted & { readonly source: NpmSource },
  directory: string,
  tools: NpmTools,
): Promise<Unpacked> {
  const specs = [`${source.package}@${version}`, ...source.with]
  const megabytes = source.megabytes === undefined ? {} : { megabytes: source.megabytes }
  tools.tell({ step: 'npm', what: specs.join(' '), ...megabytes })
  await writeFile(join(directory, 'package.json'), '{ "private": true }\n')
  const { node, environment } = tools
  const env = { ...environment, PATH: pathWith(node, environment['PATH']) }
  const missing = 'npm is not on PATH; it comes with Node'
  const npm = (...args: readonly string[]): Promise<void> =>
    runInstaller('npm', [...args, '--prefix', directory], { ...tools, id, directory, environment: env, missing })
  await npm('install', '--ignore-scripts', ...QUIET, ...specs)
  // npm takes an older version of what its Node cannot run, and says nothing.
  for (const spec of specs) await requireVersion(id, directory, spec)
  if (source.scripts.length > 0) await npm('rebuild', ...QUIET, ...source.scripts)
  const program = await programIn(id, directory, source)
  const isScript = await isForNode(join(directory, program))
  const path = source.with.length > 0 ? [join('node_modules', '.bin')] : []
  const sum = await integrityOf(directory, source.package)
  return { program, isScript, path, ...(sum !== undefined && { sum }) }
}

const packageFile = z.object({
  version: z.string(),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
})

type PackageFile = z.infer<typeof packageFile>

async function packageIn(id: string, directory: string, name: string): Promise<PackageFile> {
  try {
    const text = await readFile(join(directory, 'node_modules', name, 'package.json'), 'utf8')
    return packageFile.parse(JSON.parse(text))
  } catch (error) {
    return fail('AGENT_INSTALL', { agent: id, reason: `npm did not install ${name}` }, error)
  }
}

async function requireVersion(id: string, directory: string, spec: string): Promise<void> {
  const [, name = '', wanted = ''] = /^(.+)@([^@]+)$/u.exec(spec) ?? []
  const { version } = await packageIn(id, directory, name)
  if (version === wanted) return
  const reason = `npm installed ${name} ${version} instead of ${wanted}; a newer Node may be needed`
  fail('AGENT_INSTALL', { agent: id, reason })
}

/** No registry says which program of a package is meant, so the package must: the one named, or the only one. */
async function programIn(id: string, directory: string, { package: name, bin }: NpmSource): Promise<string> {
  const { bin: bins = {} } = await packageIn(id, directory, name)
  const last = name.split('/').at(-1) ?? name
  const table = typeof bins === 'string' ? { [last]: bins } : bins
  const names = Object.keys(table)
  const file = table[bin ?? last] ?? (names.length === 1 ? table[names[0] ?? ''] : undefined)
  if (file === undefined) {
    const reason = `${name} has no program ${bin ?? last}, but ${names.join(', ') || 'none at all'}`
    return fail('AGENT_INSTALL', { agent: id, reason })
  }
  const home = join(directory, 'node_modules', name)
  const program = relative(directory, resolve(home, file))
  if (program.startsWith('..'))
    return fail('AGENT_INSTALL', { agent: id, reason: `${name} names a program outside itself` })
  return program
}

async function isForNode(file: string): Promise<boolean> {
  if (/\.[cm]?js$/u.test(file)) return true
  const start = (await readFile(file)).subarray(0, 200).toString('latin1')
  return /^#![^\n]*\bnode\b/u.test(start)
}

/** What npm checked the package against. */
async function integrityOf(directory: string, name: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(directory, 'node_modules', '.package-lock.json'), 'utf8')
    const { packages } = JSON.parse(text) as { packages?: Record<string, { integrity?: string }> }
    return packages?.[`node_modules/${name}`]?.integrity
  } catch {
    // An npm that writes no such file; the sum is only for people.
    return undefined
  }
}
