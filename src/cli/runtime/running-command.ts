/** The command that runs, as `main` has parsed it. Every command loads this file, so it imports little. */
import { fail } from '../../errors/parley-error.ts'

interface RunningCommand {
  readonly name: string
  /** Whether it can use a remote server. */
  readonly isRemote: boolean
  /** What to do instead where it cannot. */
  readonly instead?: string | undefined
  /** `--server`. */
  readonly server: string | undefined
}

/** By what a command writes to: a program that runs several of them gives each one of its own. */
const running = new WeakMap<object, RunningCommand>()

/** Before the command reads its settings. */
export function noteCommand(command: RunningCommand): void {
  running.set(process.stdout, command)
}

export function runningCommand(): RunningCommand {
  return running.get(process.stdout) ?? { name: '', isRemote: true, server: undefined }
}

/** Throws COMMAND_LOCAL if a remote server is named and the command cannot use one. */
export function requireHere(server: string | undefined): void {
  const { name: command, isRemote, instead = 'Run it on the machine of that server.' } = runningCommand()
  if (server !== undefined && !isRemote) fail('COMMAND_LOCAL', { command, server, instead })
}
