/** Opens a page in the user's browser, where this machine has one. */
import { spawn } from 'node:child_process'
import { ProgramFinder } from '../../config/own-programs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Whether a program was found that opens it. Never runs a shell, because the address comes from a server. */
export async function openBrowser(url: string, environment: Environment): Promise<boolean> {
  const opener = openerFor(process.platform, environment)
  if (opener === undefined) return false
  // The directory that the user works in is a project, which may bring along a program of this name.
  const command = await new ProgramFinder(environment['PATH']).find(opener.name, [process.cwd()])
  if (command === undefined) return false
  return await new Promise((resolve) => {
    const child = spawn(command, [...opener.args, url], { stdio: 'ignore', detached: true })
    child.on('error', () => resolve(false))
    child.on('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

interface Opener {
  /** A program on PATH. */
  readonly name: string
  readonly args: readonly string[]
}

/** Over SSH, or without a screen, the browser would be on another machine or nowhere. */
export function openerFor(platform: NodeJS.Platform, environment: Environment): Opener | undefined {
  if (environment['SSH_CONNECTION'] !== undefined) return undefined
  if (platform === 'darwin') return { name: 'open', args: [] }
  // `start` is a word of cmd.exe, which would read the address as a command line.
  if (platform === 'win32') return { name: 'rundll32', args: ['url.dll,FileProtocolHandler'] }
  return environment['DISPLAY'] || environment['WAYLAND_DISPLAY'] ? { name: 'xdg-open', args: [] } : undefined
}
