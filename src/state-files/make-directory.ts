/** Makes a directory and its missing parents, step by step. */
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Node's own way never ends where a directory can neither be found nor made, as under /proc. */
export function makeDirectory(path: string): void {
  const parent = dirname(path)
  if (!existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(join(path, '.'))) throw error
  }
}
