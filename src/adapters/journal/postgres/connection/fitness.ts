/** What an acknowledgement of this server means, from its settings; and whether Parley stores anything there at all. */

/** As `current_setting` tells them; one that the server does not have is undefined. */
export interface ServerSettings {
  readonly fsync: string | undefined
  readonly full_page_writes: string | undefined
  readonly synchronous_commit: string | undefined
  readonly synchronous_standby_names: string | undefined
  readonly server_encoding: string | undefined
  readonly server_version_num: string | undefined
  readonly data_checksums: string | undefined
}

export const settingNames = [
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'synchronous_standby_names',
  'server_encoding',
  'server_version_num',
  'data_checksums',
] as const satisfies readonly (keyof ServerSettings)[]

/** What survives of all that was acknowledged. `memory`: the death of Parley, and not that of the database's machine. */
export type Durability = 'replicated' | 'disk' | 'memory'

export interface Fitness {
  readonly durability: Durability
  /** Sentences about what may be lost although it was acknowledged. */
  readonly warnings: readonly string[]
  /** Why Parley does not store there, unless a setting allows it; a sentence each. */
  readonly unsafe: readonly string[]
  /** Why it cannot. */
  readonly unfit: readonly string[]
}

const OLDEST = 130_000

export function fitnessOf(settings: ServerSettings): Fitness {
  const unsafe = unsafeIn(settings)
  const replicated = isReplicated(settings)
  return {
    durability: unsafe.length > 0 ? 'memory' : replicated ? 'replicated' : 'disk',
    warnings: warningsOf(settings, replicated),
    unsafe,
    unfit: unfitIn(settings),
  }
}

function unsafeIn(settings: ServerSettings): readonly string[] {
  const lost = 'what was acknowledged last is lost when the database or its machine stops'
  return [
    ...(settings.fsync === 'off' ? [`fsync is off, so ${lost}`] : []),
    ...(settings.full_page_writes === 'off' ? ['full_page_writes is off, so a power cut can damage the tables'] : []),
    ...(settings.synchronous_commit === 'off' ? [`synchronous_commit is off, so ${lost}`] : []),
  ]
}

function isReplicated({ synchronous_commit: commit, synchronous_standby_names: names }: ServerSettings): boolean {
  const waits = commit === 'on' || commit === 'remote_apply' || commit === 'remote_write'
  return waits && (names ?? '').trim() !== ''
}

function warningsOf(settings: ServerSettings, replicated: boolean): readonly string[] {
  return [
    ...(replicated
      ? []
      : [
          'no synchronous standby: the loss of the disk, or a failover to a standby, may lose what was acknowledged last',
        ]),
    ...(replicated && settings.synchronous_commit === 'remote_write'
      ? [
          'synchronous_commit is remote_write: the loss of the disk together with a power cut of the standby may lose acknowledged entries',
        ]
      : []),
    ...(settings.data_checksums === 'off' ? ['data_checksums is off: damage of the disk may stay unnoticed'] : []),
  ]
}

function unfitIn({ server_encoding: encoding, server_version_num: version }: ServerSettings): readonly string[] {
  return [
    ...(encoding !== undefined && encoding !== 'UTF8' ? [`its encoding is ${encoding} and must be UTF8`] : []),
    ...(version !== undefined && Number(version) < OLDEST ? [`its version is ${version} and must be 13 or newer`] : []),
  ]
}
