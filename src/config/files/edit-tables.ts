/**
 * Writes and removes `[mcp.NAME]` and `[agents.NAME]` in the user's file, and leaves everything else in it alone. For commands,
 * which may wait for a disk.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { parse } from 'smol-toml'
import { fail } from '../../errors/parley-error.ts'
import { replaceFile } from '../../state-files/atomic-file.ts'
import { lockedNow } from '../../state-files/file-lock.ts'
import { readAgents } from '../agents/agent-entries.ts'
import { readMcp } from '../mcp/mcp-servers.ts'
import type { SettingMistake, Table } from '../tables.ts'
import { withTable, withoutTable } from './toml-tables.ts'

export type TableGroup = 'mcp' | 'agents'

/** `[GROUP.NAME]`. */
export interface TableName {
  readonly group: TableGroup
  readonly name: string
}

const READ = { mcp: readMcp, agents: readAgents } as const

/** Throws CONFIG_INVALID where the table cannot be, or the file is not to be changed by a program. */
export function addTable(file: string, { group, name }: TableName, table: Table): void {
  const read: readonly ({ readonly fault: SettingMistake } | object)[] = READ[group]({ [name]: table }, 'user')
  for (const one of read) if ('fault' in one) fail('CONFIG_INVALID', one.fault)
  change(file, { group, name }, (text) => {
    if (isIn(text, { group, name })) {
      const reason = `it is there already; parley ${group} rm ${name} takes it away`
      fail('CONFIG_INVALID', { key: `${group}.${name}`, value: 'added', reason })
    }
    return withTable(text, [group, name], table)
  })
}

/** Whether the file has a table of this name, right or wrong. */
export function hasTable(file: string, name: TableName): boolean {
  return isIn(readOrEmpty(file), name)
}

function isIn(text: string, { group, name }: TableName): boolean {
  const tables = parse(text)[group]
  return typeof tables === 'object' && Object.hasOwn(tables, name)
}

/** The same. */
export function removeTable(file: string, name: TableName): void {
  change(file, name, (text) => withoutTable(text, [name.group, name.name]))
}

/** Read and written while no other command changes it. */
function change(file: string, name: TableName, changed: (text: string) => string | undefined): void {
  lockedNow(file, () => {
    const text = changed(readOrEmpty(file))
    if (text === undefined) return byHand(file, name)
    const { path, mode } = writeTarget(file)
    replaceFile(path, text, mode)
  })
}

function byHand(file: string, { group, name }: TableName): never {
  return fail('CONFIG_INVALID', {
    key: `${group}.${name}`,
    value: 'changed',
    reason: `${file} is written in a way that only a person can change; edit it yourself`,
  })
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** A symbolic link to the file stays one. A new file is readable only by the user, because it may hold secrets. */
function writeTarget(file: string): { readonly path: string; readonly mode: number } {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? { path: file, mode: 0o600 } : { path: realpathSync(file), mode: found.mode & 0o777 }
}
