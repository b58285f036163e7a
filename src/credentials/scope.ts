/** Which sessions a credential reaches. Others do not exist for whoever shows it. */

/** `directories`: those whose cwd is one of them or lies below it. */
export type Scope = 'all' | { readonly sessions: readonly string[] } | { readonly directories: readonly string[] }

export function isScope(value: unknown): value is Scope {
  if (value === 'all') return true
  if (typeof value !== 'object' || value === null) return false
  const { sessions, directories } = value as Readonly<Record<string, unknown>>
  return areTexts(sessions) !== areTexts(directories)
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')
}
