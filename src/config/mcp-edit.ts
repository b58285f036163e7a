/** Writes and removes `[mcp.NAME]` in the user's file, and leaves everything else in it alone. For commands, which may wait for a disk. */
import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fail } from '../errors/parley-error.ts'
import { readMcp } from './mcp.ts'
import { withTable, withoutTable } from './toml-tables.ts'

/** As `[mcp.NAME]` says it. */
export type McpTable = Readonly<Record<string, unknown>>

/** Throws CONFIG_INVALID where the table cannot be, or the file is not to be changed by a program. */
export function addMcp(file: string, name: string, table: McpTable): void {
  for (const one of readMcp({ [name]: table })) if ('fault' in one) fail('CONFIG_INVALID', one.fault)
  const changed = withTable(textOf(file), ['mcp', name], table)
  if (changed === undefined) return byHand(file, name)
  write(file, changed)
}

/** The same. */
export function removeMcp(file: string, name: string): void {
  const changed = withoutTable(textOf(file), ['mcp', name])
  if (changed === undefined) return byHand(file, name)
  write(file, changed)
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

/** Whole or not at all; a link to it stays one. What is new may hold secrets. */
function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  const { path, mode } = placeOf(file)
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, text, { mode })
  renameSync(draft, path)
}

function placeOf(file: string): { readonly path: string; readonly mode: number } {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? { path: file, mode: 0o600 } : { path: realpathSync(file), mode: found.mode & 0o777 }
}
