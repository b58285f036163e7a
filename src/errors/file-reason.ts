/** Why a file cannot be read, in our own words, because the system's message repeats the path and names system calls. */
import { reasonOf } from './parley-error.ts'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'you do not have permission to read it',
  EPERM: 'you do not have permission to read it',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'its path is too long',
}

export function fileReasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return (Object.hasOwn(REASONS, code) ? REASONS[code] : undefined) ?? reasonOf(error)
}
