/** How a file is started on Windows: a program by itself, a batch file through cmd.exe, whose quoting is its own. */
import { win32 } from 'node:path'
import { fail } from '../../../errors/parley-error.ts'

export interface CommandLine {
  readonly file: string
  readonly args: readonly string[]
  /** The arguments are quoted already. */
  readonly isVerbatim: boolean
}

interface Program {
  /** Absolute. */
  readonly file: string
  readonly args: readonly string[]
  /** The directory of Windows. */
  readonly systemRoot: string
}

/** Throws PROCESS_SPAWN for a batch file with an argument that cmd.exe would not pass on as it is. */
export function commandLine({ file, args, systemRoot }: Program): CommandLine {
  if (!/\.(?:bat|cmd)$/iu.test(file)) return { file, args, isVerbatim: false }
  const words = [file, ...args].map((word) => quoted(word, file)).join(' ')
  // No AutoRun of the registry, no delayed expansion of `!`; `/s` takes away the outer quotes and nothing else.
  return {
    file: win32.join(systemRoot, 'System32', 'cmd.exe'),
    args: ['/d', '/v:off', '/s', '/c', `"${words}"`],
    isVerbatim: true,
  }
}

/**
 * Within quotes cmd.exe leaves everything alone but the quote itself, `%`, and the end of the line, for which it has no escape
 * that holds in every batch file. The program that reads the word takes backslashes before a quote for an escape.
 */
function quoted(word: string, file: string): string {
  // eslint-disable-next-line no-control-regex
  if (/["%\u0000-\u001f]/u.test(word)) {
    const reason = 'it is a batch file, to which quotes, percent signs and line breaks cannot be passed safely'
    fail('PROCESS_SPAWN', { command: file, reason })
  }
  return `"${word}${/\\*$/u.exec(word)?.[0] ?? ''}"`
}
