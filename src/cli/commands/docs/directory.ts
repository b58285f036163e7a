/** Reads a DIR argument of the `parley docs` commands. */
import { resolve } from 'node:path'
import { fail } from '../../../errors/parley-error.ts'

/** The absolute path. An empty text is most likely a shell variable that is not set, and does not mean the current directory. */
export function directoryFrom(argument: string): string {
  if (argument !== '') return resolve(argument)
  return fail('CONFIG_INVALID', { key: 'DIR', value: '""', reason: 'name the directory to serve' })
}
