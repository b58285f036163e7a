/** How deep JSON is nested: whoever writes it down again, or goes through it, must keep all levels in mind at once. */

/** Whether objects and lists stand in each other on more than `levels` levels. It goes no deeper than that itself. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  for (const part of parts) if (typeof part === 'object' && isNestedDeeper(part, levels - 1)) return true
  return false
}
