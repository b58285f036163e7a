/** Where one served directory lies in another, a file belongs to the innermost: nothing is found twice. */
import { realpath } from 'node:fs/promises'
import { sep } from 'node:path'

/** For each directory, how the real paths begin of what lies in it and belongs to another one. */
export async function othersWithin(directories: readonly string[]): Promise<readonly (readonly string[])[]> {
  const roots = await Promise.all(directories.map(rootOf))
  return roots.map((root, at) =>
    roots.flatMap((other, index) => {
      if (root === undefined || other === undefined || index === at || !other.startsWith(root)) return []
      // The same one by another name belongs to whoever was named first.
      return other === root && index > at ? [] : [other]
    }),
  )
}

/** Undefined while it is gone: nothing lies in it then. */
async function rootOf(directory: string): Promise<string | undefined> {
  const path = await realpath(directory).catch(() => undefined)
  return path === undefined || path.endsWith(sep) ? path : `${path}${sep}`
}
