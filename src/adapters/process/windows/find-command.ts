/** Which file a command means on Windows, by PATH and PATHEXT. */
import { win32 } from 'node:path'
import { fail } from '../../../errors/parley-error.ts'

export interface Lookup {
  readonly command: string
  /** Absolute. */
  readonly cwd: string
  /** The child's own variables. */
  readonly path: string | undefined
  readonly extensions: string | undefined
}

/** Types of files that can be started: a program, or a batch file through cmd.exe. Other types of PATHEXT need their own program. */
const STARTABLE = ['.com', '.exe', '.bat', '.cmd']

/** The absolute path of the file. Throws COMMAND_NOT_FOUND. Unlike cmd.exe, never looks into the directory of the session. */
export async function findCommand(lookup: Lookup, isFile: (path: string) => Promise<boolean>): Promise<string> {
  for (const candidate of candidates(lookup)) if (await isFile(candidate)) return candidate
  return fail('COMMAND_NOT_FOUND', { command: lookup.command })
}

function candidates({ command, cwd, path, extensions }: Lookup): readonly string[] {
  if (command === '') return []
  const endings = STARTABLE.includes(win32.extname(command).toLowerCase()) ? [''] : endingsOf(extensions)
  const isPath = /[\\/:]/u.test(command)
  const places = isPath ? [win32.resolve(cwd, command)] : absoluteFolders(path).map((one) => win32.join(one, command))
  return places.flatMap((place) => endings.map((ending) => `${place}${ending}`))
}

/** In the order of PATHEXT. */
function endingsOf(extensions: string | undefined): readonly string[] {
  const wanted = (extensions || STARTABLE.join(';')).toLowerCase().split(';')
  return wanted.filter((ending) => STARTABLE.includes(ending))
}

/** The entries of a PATH that begin at a drive or a server. Any other may be found in the project. */
export function absoluteFolders(path = ''): readonly string[] {
  const entries = path.split(';').map((entry) => entry.replaceAll('"', ''))
  return entries.filter((entry) => /^(?:[A-Za-z]:[\\/]|\\\\)/u.test(entry))
}
