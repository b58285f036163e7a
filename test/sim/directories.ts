/** Stands for `node:fs/promises` in the simulation, where real disks would make chance: every directory is there. */

export async function stat(_path: string): Promise<{ readonly isDirectory: () => boolean }> {
  return { isDirectory: () => true }
}
