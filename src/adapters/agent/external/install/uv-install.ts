/** Installs a package of Python into an empty folder, with the user's own uv and its settings. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import type { Processes } from '../../../../ports/process.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import type { Unpacked } from './npm-install.ts'
import type { Tell } from './progress.ts'
import { runInstaller } from './run-installer.ts'
import type { UvSource, Wanted } from './wanted.ts'

export interface UvTools {
  readonly processes: Processes
  /** PATH, and the settings of uv that the environment has. */
  readonly environment: Readonly<Record<string, string>>
  readonly tell: Tell
  readonly signal: Signal
}

const MISSING =
  'it is a Python package, and uv, which installs it, is not on PATH; install uv (docs.astral.sh/uv) and type the command again'

/** Throws AGENT_INSTALL. Leaves what it did in the folder. */
export async function installFromUv(
  { id, version, source }: Wanted & { readonly source: UvSource },
  directory: string,
  tools: UvTools,
): Promise<Unpacked> {
  const spec = `${source.package}==${version}`
  tools.tell({ step: 'uv', what: spec })
  const uv = (...args: readonly string[]): Promise<void> =>
    runInstaller('uv', args, { ...tools, id, directory, missing: MISSING })
  const venv = join(directory, 'venv')
  // The folder gets its place only when all is in it, so nothing may depend on its name.
  await uv('venv', '--quiet', '--relocatable', '--no-python-downloads', venv)
  // To build a package is to run code of it, and of each that it depends on.
  await uv('pip', 'install', '--quiet', '--no-build', '--python', venv, spec)
  return { program: join('venv', programIn(id, venv, source)), isScript: false, path: [] }
}

/** Where a venv has a program, relative to it. */
export function venvProgram(name: string, platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32' ? join('Scripts', `${name}.exe`) : join('bin', name)
}

/** As uvx chooses it: the program that is named as its package, else the only one that the package has. */
function programIn(id: string, venv: string, { package: spec }: UvSource): string {
  const name = spec.replace(/\[.*\]$/u, '')
  if (existsSync(join(venv, venvProgram(name)))) return venvProgram(name)
  const programs = programsOf(venv, name)
  const [only, ...others] = programs
  if (only !== undefined && others.length === 0 && existsSync(join(venv, venvProgram(only)))) return venvProgram(only)
  const reason = `${name} has no program of its name, but ${programs.join(', ') || 'none at all'}`
  return fail('AGENT_INSTALL', { agent: id, reason })
}

/** The console scripts of its `entry_points.txt`. */
function programsOf(venv: string, name: string): readonly string[] {
  const found = readdirSync(join(venv, 'lib'), { recursive: true, encoding: 'utf8' }).find((path) => {
    const [, written] = /([^/\\]+)-[^-/\\]+\.dist-info[/\\]entry_points\.txt$/u.exec(path) ?? []
    return written !== undefined && normalized(written) === normalized(name)
  })
  if (found === undefined) return []
  const [, section = ''] = readFileSync(join(venv, 'lib', found), 'utf8').split('[console_scripts]')
  const lines = (section.split('\n[')[0] ?? '').split('\n')
  // A name with a slash would be a program elsewhere.
  return lines.flatMap((line) => /^([\w.-]+)\s*=/u.exec(line.trim())?.[1] ?? [])
}

/** Python's rule for when two names are one. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/gu, '-')
}
