/** The command of this process, as `main` has parsed it. Every command loads this file, so it imports nothing. */

interface RunningCommand {
  readonly name: string
  /** Whether it can use a server elsewhere. */
  readonly isRemote: boolean
  /** `--server`. */
  readonly server: string | undefined
}

let running: RunningCommand = { name: '', isRemote: true, server: undefined }

/** Before the command reads its settings. */
export function noteCommand(command: RunningCommand): void {
  running = command
}

export function runningCommand(): RunningCommand {
  return running
}
