/** The copies of agents that Parley installed: `<state>/agents/<id>/<version>/<platform>/`, each with a manifest. */
import { type Dirent, existsSync, readdirSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { z } from 'zod'
import { readTextSync } from '../../../../state-files/bounded-read.ts'
import { compareVersions } from '../known/version.ts'

/** What is written beside an installed agent. Paths are relative to its folder. */
const manifest = z.object({
  id: z.string(),
  version: z.string(),
  source: z.enum(['npm', 'uv', 'archive']),
  /** The package or the address that it came from. */
  from: z.string(),
  program: z.string().refine(staysInside),
  /** Whether Node runs the program; otherwise it is executed itself. */
  isScript: z.boolean(),
  /** Absent where the start table says them. */
  args: z.array(z.string()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  /** Folders of programs that it starts. */
  path: z.array(z.string().refine(staysInside)),
  /** SHA-256 of the archive, or the integrity that npm recorded. */
  sum: z.string().optional(),
  /** Milliseconds since 1970. */
  at: z.number(),
})

export type Manifest = z.infer<typeof manifest>

export interface InstalledAgent extends Manifest {
  /** Absolute. */
  readonly directory: string
}

export const MANIFEST = 'parley-agent.json'

/** Native parts of a copy fit only here. */
export const PLATFORM = `${process.platform}-${process.arch}-${process.versions.modules}`

export class InstalledAgents {
  /** `<state>/agents`. */
  readonly directory: string

  constructor(home: string) {
    this.directory = join(home, 'agents')
  }

  /** Newest versions first. Read anew, because another process may install one. */
  list(): readonly InstalledAgent[] {
    return foldersIn(this.directory).flatMap((id) => this.versions(id))
  }

  /** The copies of one agent, the newest version first. */
  versions(id: string): readonly InstalledAgent[] {
    const folder = join(this.directory, id)
    const copies = foldersIn(folder).flatMap((version) => readCopy(join(folder, version, PLATFORM), { id, version }))
    return copies.toSorted((a, b) => compareVersions(b.version, a.version))
  }

  /** The one that a session gets: this version, or the one that was installed last. */
  choose(id: string, version?: string): InstalledAgent | undefined {
    const copies = this.versions(id)
    if (version !== undefined) return copies.find((copy) => copy.version === version)
    return copies.toSorted((a, b) => b.at - a.at)[0]
  }

  /** Every Node that was installed for agents, the newest first. */
  nodes(): readonly string[] {
    return this.versions('node').map(programOf)
  }
}

export function programOf({ directory, program }: InstalledAgent): string {
  return join(directory, program)
}

/** A manifest of another agent or version than its folders says that the copy came here by mistake or malice. */
function readCopy(directory: string, { id, version }: Pick<Manifest, 'id' | 'version'>): readonly InstalledAgent[] {
  try {
    const read = manifest.safeParse(JSON.parse(readTextSync(join(directory, MANIFEST)) ?? ''))
    if (!read.success || read.data.id !== id || read.data.version !== version) return []
    if (!existsSync(join(directory, read.data.program))) return []
    return [{ ...read.data, directory }]
  } catch {
    // A folder without a manifest, which an interrupted removal left: it is no copy.
    return []
  }
}

/** Temporary folders begin with a dot. */
function foldersIn(directory: string): readonly string[] {
  try {
    const isFolder = (entry: Dirent): boolean => entry.isDirectory() && !entry.name.startsWith('.')
    return readdirSync(directory, { withFileTypes: true })
      .filter(isFolder)
      .map(({ name }) => name)
      .toSorted()
  } catch {
    // Nothing was installed yet.
    return []
  }
}

function staysInside(path: string): boolean {
  return !isAbsolute(path) && !normalize(path).split('/').includes('..')
}
