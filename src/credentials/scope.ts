/** Which sessions a credential reaches. Others do not exist for its holder. */

import { normalize } from 'node:path'

/** `directories`: those whose cwd is one of them or lies below it. */
export type Scope = 'all' | { readonly sessions: readonly string[] } | { readonly directories: readonly string[] }

/** Whether a session is within the scope. */
export function reaches(scope: Scope, { id, cwd }: { readonly id: string; readonly cwd: string }): boolean {
  if (scope === 'all') return true
  if ('sessions' in scope) return scope.sessions.includes(id)
  return scope.directories.some((directory) => isBelow(cwd, directory))
}

/** A directory is below itself. Both are absolute; `..` in them leads where it says. */
export function isBelow(path: string, directory: string): boolean {
  const [inner, outer] = [normalize(`${path}/`), normalize(`${directory}/`)]
  return inner.startsWith(outer)
}

export function isScope(value: unknown): value is Scope {
  if (value === 'all') return true
  if (typeof value !== 'object' || value === null) return false
  const { sessions, directories } = value as Readonly<Record<string, unknown>>
  return areTexts(sessions) !== areTexts(directories)
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')
}
