/** Opens a page in the user's browser, where this machine has one. */
import { spawn } from 'node:child_process'
import { ProgramFinder } from '../../config/own-programs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Whether a program was found that does it; never through a shell, for the address is not ours. */
export async function openBrowser(url: string, environment: Environment): Promise<boolean> {
  const name = programFor(environment)
  if (name === undefined) return false
  // The directory that the user works in is a project, which may bring along a program of this name.
  const command = await new ProgramFinder(environment['PATH']).find(name, [process.cwd()])
  if (command === undefined) return false
  return await new Promise((resolve) => {
    const child = spawn(command, [url], { stdio: 'ignore', detached: true })
    child.on('error', () => resolve(false))
    child.on('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

/** Over SSH, or without a screen, the browser would be on another machine or nowhere. */
function programFor(environment: Environment): string | undefined {
  if (environment['SSH_CONNECTION'] !== undefined) return undefined
  if (process.platform === 'darwin') return 'open'
  if (process.platform === 'win32') return undefined
  return environment['DISPLAY'] || environment['WAYLAND_DISPLAY'] ? 'xdg-open' : undefined
}
