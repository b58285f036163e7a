/** How deep a JSON value is nested. Code that serialises or walks it needs stack for each level. */

/** Whether objects and arrays nest more than `levels` levels deep. It looks no deeper than that itself. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  for (const part of parts) if (typeof part === 'object' && isNestedDeeper(part, levels - 1)) return true
  return false
}
