/** Writes and removes `[mcp.NAME]` in the user's file, and leaves everything else in it alone. For commands, which may wait for a disk. */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { parse } from 'smol-toml'
import { fail } from '../../errors/parley-error.ts'
import { replaceFile } from '../../state-files/atomic-file.ts'
import { lockedNow } from '../../state-files/file-lock.ts'
import { readMcp } from './mcp-servers.ts'
import { withTable, withoutTable } from '../files/toml-tables.ts'

/** As `[mcp.NAME]` says it. */
export type McpTable = Readonly<Record<string, unknown>>

/** Throws CONFIG_INVALID where the table cannot be, or the file is not to be changed by a program. */
export function addMcp(file: string, name: string, table: McpTable): void {
  for (const one of readMcp({ [name]: table }, 'user')) if ('fault' in one) fail('CONFIG_INVALID', one.fault)
  change(file, name, (text) => {
    if (isIn(text, name)) {
      const reason = `it is there already; parley mcp rm ${name} takes it away`
      fail('CONFIG_INVALID', { key: `mcp.${name}`, value: 'added', reason })
    }
    return withTable(text, ['mcp', name], table)
  })
}

/** Whether the file has a table of this name, right or wrong. */
export function hasMcp(file: string, name: string): boolean {
  return isIn(textOf(file), name)
}

function isIn(text: string, name: string): boolean {
  const { mcp } = parse(text)
  return typeof mcp === 'object' && Object.hasOwn(mcp, name)
}

/** The same. */
export function removeMcp(file: string, name: string): void {
  change(file, name, (text) => withoutTable(text, ['mcp', name]))
}

/** Read and written while no other command changes it. */
function change(file: string, name: string, changed: (text: string) => string | undefined): void {
  lockedNow(file, () => {
    const text = changed(textOf(file))
    if (text === undefined) return byHand(file, name)
    const { path, mode } = placeOf(file)
    replaceFile(path, text, mode)
  })
}

function byHand(file: string, name: string): never {
  return fail('CONFIG_INVALID', {
    key: `mcp.${name}`,
    value: 'changed',
    reason: `${file} is written in a way that only a person can change; edit it yourself`,
  })
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** A symbolic link to the file stays one. A new file is readable only by the user, because it may hold secrets. */
function placeOf(file: string): { readonly path: string; readonly mode: number } {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? { path: file, mode: 0o600 } : { path: realpathSync(file), mode: found.mode & 0o777 }
}
