/** Runs a program that installs packages, and fails with what it said last. */
import { fail, isParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import type { Processes } from '../../../../ports/process.ts'
import type { Signal } from '../../../../ports/values/signal.ts'

/** How many of its last lines a failure shows, in one line. */
const LAST_LINES = 12

export interface Installer {
  readonly processes: Processes
  readonly signal: Signal
  /** The agent that is installed. */
  readonly id: string
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  /** Half a sentence for a program that is not on PATH. */
  readonly missing: string
}

/** Throws AGENT_INSTALL, or the reason of the signal. */
export async function runInstaller(command: string, args: readonly string[], how: Installer): Promise<void> {
  const { processes, signal, id, directory, environment: env, missing } = how
  const refuse = (reason: string): never => fail('AGENT_INSTALL', { agent: id, reason })
  const child = await processes.spawn({ command, args, cwd: directory, env }, signal).catch((error: unknown) => {
    if (signal.aborted) throw error
    return refuse(isParleyError(error, 'COMMAND_NOT_FOUND') ? missing : reasonOf(error))
  })
  const stop = (): void => void child.stop(0)
  signal.addEventListener('abort', stop)
  try {
    let said = ''
    const decoder = new TextDecoder()
    for await (const bytes of child.stdout) said = (said + decoder.decode(bytes, { stream: true })).slice(-8192)
    const { code } = await child.exited
    if (signal.aborted) throw signal.reason
    await child.stderrRead
    if (code !== 0)
      refuse(`${command} ended with ${code ?? 'a signal'}. ${lastLines(`${said}\n${child.stderrTail()}`)}`)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function lastLines(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/^npm (?:error|ERR!)\s*/u, '').trim())
  return lines
    .filter((line) => line !== '')
    .slice(-LAST_LINES)
    .join('; ')
}
