/** Finds the file that a command means, the way a shell would, so that a missing one gets a clear answer. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { fail } from '../../errors/parley-error.ts'

export interface Lookup {
  readonly command: string
  readonly cwd: string
  /** PATH of the child, not ours. */
  readonly path: string | undefined
}

/** The absolute path to execute. Throws COMMAND_NOT_FOUND or COMMAND_NOT_EXECUTABLE. */
export async function findCommand({ command, cwd, path }: Lookup): Promise<string> {
  let blocked: string | undefined
  for (const candidate of candidates({ command, cwd, path })) {
    const state = await examine(candidate)
    if (state === 'executable') return candidate
    if (state === 'blocked') blocked ??= candidate
  }
  if (blocked !== undefined) fail('COMMAND_NOT_EXECUTABLE', { command: blocked })
  return fail('COMMAND_NOT_FOUND', { command })
}

function candidates({ command, cwd, path }: Lookup): readonly string[] {
  if (command === '') return []
  if (command.includes('/')) return [resolve(cwd, command)]
  // An empty or relative entry would mean the directory of the session, and so a program of whoever wrote what is there.
  const folders = (path ?? '/usr/local/bin:/usr/bin:/bin').split(':').filter((folder) => isAbsolute(folder))
  return folders.map((folder) => resolve(folder, command))
}

async function examine(file: string): Promise<'missing' | 'blocked' | 'executable'> {
  try {
    if (!(await stat(file)).isFile()) return 'blocked'
  } catch {
    // Whatever keeps us from seeing the file keeps us from running it: the search goes on.
    return 'missing'
  }
  return access(file, constants.X_OK).then(
    () => 'executable',
    () => 'blocked',
  )
}
