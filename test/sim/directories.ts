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

/** What reads files is bundled too, and never called: no client of the simulation asks for files. */
async function refuse(): Promise<never> {
  throw new Error('the simulation has no files')
}

export { refuse as mkdir, refuse as open, refuse as readdir, refuse as readlink, refuse as rename, refuse as unlink }
