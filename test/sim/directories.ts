/** Stands for `node:fs/promises` in the simulation, where real disks would make chance: every directory is there. */

export async function stat(_path: string): Promise<{ readonly isDirectory: () => boolean }> {
  return { isDirectory: () => true }
}

/** There are no links. */
export async function realpath(path: string): Promise<string> {
  return path
}

export async function lstat(_path: string): Promise<{ readonly isSymbolicLink: () => boolean }> {
  return { isSymbolicLink: () => false }
}
