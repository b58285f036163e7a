/** The child processes of this system: with process groups, or those of Windows, which nothing else loads. */
import type { Processes } from '../../ports/process.ts'
import { type ProcessesOptions, groupProcesses } from './spawn.ts'

export function openProcesses(options: ProcessesOptions): Processes {
  return process.platform === 'win32' ? onWindows(options) : groupProcesses(options)
}

function onWindows(options: ProcessesOptions): Processes {
  let opened: Promise<Processes> | undefined
  const open = async (): Promise<Processes> => {
    opened ??= import('./windows/windows-processes.ts').then(({ windowsProcesses }) => windowsProcesses(options))
    return await opened
  }
  return {
    spawn: async (spec, signal) => (await open()).spawn(spec, signal),
    close: async () => (await open()).close(),
  }
}
