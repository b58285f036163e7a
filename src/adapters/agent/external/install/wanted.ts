/** What is to be installed, decided before anything is downloaded, so that a user can agree to it. */
import { fail } from '../../../../errors/parley-error.ts'
import type { RegistryEntry } from '../find/registry-index.ts'
import { type KnownAgent, knownAgent } from '../known/start-table.ts'
import { isExactVersion, isVersion } from '../known/version.ts'

/** One agent in one exact version. */
export interface Wanted {
  readonly id: string
  readonly version: string
  readonly source: NpmSource | UvSource | ArchiveSource
  /** How it is started, where the start table does not say it. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface NpmSource {
  readonly kind: 'npm'
  readonly package: string
  /** Its name under `bin`; absent, the package has one alone. */
  readonly bin?: string
  /** The packages whose install scripts run. */
  readonly scripts: readonly string[]
  readonly with: readonly string[]
  /** The lowest Node that runs npm for it. */
  readonly node: string
  readonly megabytes?: number
}

/** A package of Python. */
export interface UvSource {
  readonly kind: 'uv'
  /** Perhaps with extras: `name[extra]`. */
  readonly package: string
}

export interface ArchiveSource {
  readonly kind: 'archive'
  readonly url: string
  /** Relative to the archive's content. */
  readonly command: string
  readonly sha256?: string
}

/** A copy of Node for agents that need a newer one than this machine has. */
const NODE_VERSION = '22.23.3'

/** npm's own needs. */
const ANY_NODE = '18.0.0'

/** What Parley knows how to install without the registry; undefined for any other. Throws AGENT_VERSION. */
export function wantedOfTable(name: string, version: string | undefined): Wanted | undefined {
  const known = knownAgent(name)
  if (name !== 'node' && known?.npm === undefined) return undefined
  if (version !== undefined && !isExactVersion(version)) return fail('AGENT_VERSION', { agent: name, version })
  return known?.npm === undefined ? ownNode(version ?? NODE_VERSION) : ofTable(known, known.npm, version)
}

function ofTable({ id, node }: KnownAgent, npm: NonNullable<KnownAgent['npm']>, version: string | undefined): Wanted {
  const source: NpmSource = {
    kind: 'npm',
    package: npm.name,
    bin: npm.bin,
    scripts: npm.scripts ?? [],
    with: npm.with ?? [],
    node: node ?? ANY_NODE,
    // The size is that of the version in the table.
    ...(npm.megabytes !== undefined && version === undefined && { megabytes: npm.megabytes }),
  }
  return { id, version: version ?? npm.version, source }
}

/** npm has Node as a package without scripts for each platform. */
function ownNode(version: string): Wanted {
  const name = `node-${process.platform}-${process.arch}`
  const source: NpmSource = { kind: 'npm', package: name, bin: 'node', scripts: [], with: [], node: ANY_NODE }
  return { id: 'node', version, source }
}

/** What the registry says of it. Throws AGENT_INSTALL where that cannot be installed here, and AGENT_VERSION. */
export function wantedOfRegistry(entry: RegistryEntry, version: string | undefined): Wanted {
  const { id, distribution } = entry
  const known = knownAgent(id)
  const binary = distribution.binary?.[platformKey()]
  if (distribution.npx !== undefined) return ofNpx(entry, distribution.npx, version)
  if (binary !== undefined) {
    if (!isVersion(entry.version)) return fail('AGENT_INSTALL', { agent: id, reason: 'the registry names no version' })
    if (version !== undefined && version !== entry.version) {
      const reason = `the registry has only version ${entry.version} of it`
      return fail('AGENT_INSTALL', { agent: id, reason })
    }
    const { archive: url, cmd: command, sha256, args, env } = binary
    const source: ArchiveSource = { kind: 'archive', url, command, ...(sha256 !== undefined && { sha256 }) }
    return { id: known?.id ?? id, version: entry.version, source, ...started(args, env) }
  }
  if (distribution.uvx !== undefined) return ofUvx(entry, distribution.uvx, version)
  return fail('AGENT_INSTALL', { agent: id, reason: `the registry has nothing for ${platformKey()}` })
}

type Packaged = NonNullable<RegistryEntry['distribution']['npx']>

function ofNpx({ id }: RegistryEntry, { package: spec, args, env }: Packaged, version: string | undefined): Wanted {
  const [, name, pinned] = /^((?:@[\w~][\w.~-]*\/)?[\w~][\w.~-]*)@(.+)$/u.exec(spec) ?? []
  if (version !== undefined && !isExactVersion(version)) return fail('AGENT_VERSION', { agent: id, version })
  const exact = version ?? pinned ?? ''
  if (name === undefined || !isExactVersion(exact)) {
    return fail('AGENT_INSTALL', { agent: id, reason: `the registry names no exact version of ${spec}` })
  }
  const source: NpmSource = { kind: 'npm', package: name, scripts: [], with: [], node: ANY_NODE }
  return { id: knownAgent(id)?.id ?? id, version: exact, source, ...started(args, env) }
}

function ofUvx({ id }: RegistryEntry, { package: spec, args, env }: Packaged, version: string | undefined): Wanted {
  const [, name, pinned] = /^(\w[\w.-]*(?:\[[\w.,-]+\])?)(?:==|@)(.+)$/u.exec(spec) ?? []
  if (version !== undefined && !isVersion(version)) return fail('AGENT_VERSION', { agent: id, version })
  const exact = version ?? pinned ?? ''
  if (name === undefined || !isVersion(exact))
    return fail('AGENT_INSTALL', { agent: id, reason: `the registry names no exact version of ${spec}` })
  const source: UvSource = { kind: 'uv', package: name }
  return { id: knownAgent(id)?.id ?? id, version: exact, source, ...started(args, env) }
}

function started(args: readonly string[] | undefined, env: Readonly<Record<string, string>> | undefined) {
  return { args: args ?? [], ...(env !== undefined && { env }) }
}

/** As the registry names platforms. */
function platformKey(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const machine = process.arch === 'arm64' ? 'aarch64' : process.arch === 'x64' ? 'x86_64' : process.arch
  return `${system}-${machine}`
}

/** Exactly what will be done, in one line: what the user agrees to. */
export function wantedLine({ source, version }: Wanted): string {
  if (source.kind === 'archive') return `download ${source.url}`
  if (source.kind === 'uv') return `uv pip install --no-build ${source.package}==${version}`
  const packages = [`${source.package}@${version}`, ...source.with].join(' ')
  const scripts = source.scripts.length > 0 ? `, and run the install scripts of ${source.scripts.join(', ')}` : ''
  return `npm install ${packages}${scripts}`
}
