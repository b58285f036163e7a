/** Installs one agent in one exact version: into a temporary folder first, and then whole or not at all. */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Processes } from '../../../../ports/process.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { createPrivate, replaceFile } from '../../../../state-files/atomic-file.ts'
import { locked } from '../../../../state-files/file-lock.ts'
import { findNode } from '../find/find-node.ts'
import { installFromArchive } from './archive.ts'
import { type InstalledAgent, type InstalledAgents, MANIFEST, type Manifest, PLATFORM } from './installed-agents.ts'
import { installFromNpm, type Unpacked } from './npm-install.ts'
import { ProgressFile, type Tell } from './progress.ts'
import { installFromUv } from './uv-install.ts'
import type { ArchiveSource, NpmSource, UvSource, Wanted } from './wanted.ts'

/** PATH, and the settings that the environment has for each of them. */
export interface InstallerEnvironments {
  readonly npm: Readonly<Record<string, string>>
  readonly uv: Readonly<Record<string, string>>
}

export interface Installing {
  readonly installed: InstalledAgents
  readonly processes: Processes
  readonly clock: Clock
  readonly installerEnvironments: InstallerEnvironments
  readonly tell: Tell
  readonly signal: Signal
  /** Of an archive, and of all that is in it. Absent, 2 GiB. */
  readonly maxBytes?: number
}

/** A copy that is there already is used again. Throws AGENT_INSTALL, AGENT_NODE_OLD, FILE_BUSY, or the reason of the signal. */
export async function install(wanted: Wanted, installing: Installing): Promise<InstalledAgent> {
  const { installed, clock } = installing
  const folder = join(installed.directory, wanted.id)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = join(installed.directory, `${wanted.id}.lock`)
  createPrivate(lock)
  return await locked(lock, clock, async () => {
    const there = installed.choose(wanted.id, wanted.version)
    if (there !== undefined) return chosenAgain(there, clock)
    await removeDrafts(folder)
    const draft = join(folder, `.draft-${clock.id()}`)
    await mkdir(draft, { mode: 0o700 })
    const file = new ProgressFile(folder)
    const tell: Tell = (progress) => {
      file.write(progress)
      installing.tell(progress)
    }
    try {
      const unpacked = await unpackInto(draft, wanted, { ...installing, tell })
      return await keep(draft, manifestOf(wanted, unpacked, clock.now()), installed)
    } finally {
      file.remove()
      await rm(draft, { recursive: true, force: true })
    }
  })
}

/** Removes one version, or all of an agent. False where there is none. */
export async function uninstall(
  id: string,
  version: string | undefined,
  { installed, clock }: Pick<Installing, 'installed' | 'clock'>,
): Promise<boolean> {
  const copies = installed.versions(id).filter((copy) => version === undefined || copy.version === version)
  if (copies.length === 0) return false
  const folder = join(installed.directory, id)
  await locked(join(installed.directory, `${id}.lock`), clock, async () => {
    // Renamed first: a copy that is half removed must not look like one.
    for (const { directory } of copies) {
      const draft = join(folder, `.draft-${clock.id()}`)
      await rename(directory, draft)
      await rm(draft, { recursive: true, force: true })
    }
  })
  return true
}

async function unpackInto(draft: string, wanted: Wanted, installing: Installing): Promise<Unpacked> {
  const { source } = wanted
  const { installed, installerEnvironments } = installing
  if (source.kind === 'archive')
    return installFromArchive({ ...wanted, source: source satisfies ArchiveSource }, draft, installing)
  if (source.kind === 'uv') {
    const tools = { ...installing, environment: installerEnvironments.uv }
    return installFromUv({ ...wanted, source: source satisfies UvSource }, draft, tools)
  }
  const environment = installerEnvironments.npm
  const node = await findNode(source.node, { path: environment['PATH'], installed: installed.nodes() })
  if (node === undefined) return fail('AGENT_NODE_OLD', { agent: wanted.id, wanted: source.node })
  return installFromNpm({ ...wanted, source: source satisfies NpmSource }, draft, { ...installing, environment, node })
}

function manifestOf({ id, version, source, args, env }: Wanted, unpacked: Unpacked, at: number): Manifest {
  return {
    id,
    version,
    source: source.kind,
    from: source.kind === 'archive' ? source.url : source.package,
    program: unpacked.program,
    isScript: unpacked.isScript,
    path: [...unpacked.path],
    at,
    ...(args !== undefined && { args: [...args] }),
    ...(env !== undefined && { env: { ...env } }),
    ...(unpacked.sum !== undefined && { sum: unpacked.sum }),
  }
}

/** The manifest is written before the rename, so that a copy in its place is a whole one. */
async function keep(draft: string, manifest: Manifest, installed: InstalledAgents): Promise<InstalledAgent> {
  const { id, version } = manifest
  writeManifest(draft, manifest)
  const place = join(installed.directory, id, version, PLATFORM)
  await mkdir(dirname(place), { recursive: true, mode: 0o700 })
  await rm(place, { recursive: true, force: true })
  await rename(draft, place)
  return { ...manifest, directory: place }
}

/** The copy that was added last is the one that sessions get. */
function chosenAgain(copy: InstalledAgent, clock: Clock): InstalledAgent {
  const { directory, ...manifest } = copy
  const now = { ...manifest, at: clock.now() }
  writeManifest(directory, now)
  return { ...now, directory }
}

function writeManifest(directory: string, manifest: Manifest): void {
  replaceFile(join(directory, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Of an installation that was killed; the lock says that none runs now. */
async function removeDrafts(folder: string): Promise<void> {
  const names = await readdir(folder)
  const drafts = names.filter((name) => name.startsWith('.draft-'))
  await Promise.all(drafts.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}
