/** How far the installation of an agent is: for who began it, and in a file for the clients of a server. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../../../state-files/atomic-file.ts'
import { readTextSync } from '../../../../state-files/bounded-read.ts'

export type InstallProgress =
  | { readonly step: 'resolve'; readonly what: string }
  /** Bytes so far, and of all. */
  | { readonly step: 'download'; readonly bytes: number; readonly total?: number }
  | { readonly step: 'npm' | 'uv'; readonly what: string; readonly megabytes?: number }
  | { readonly step: 'unpack' }
  | { readonly step: 'probe' }

export type Tell = (progress: InstallProgress) => void

/** The progress of one agent, in its folder of the state directory. */
export class ProgressFile {
  readonly #path: string

  /** `folder` is `<state>/agents/ID`. */
  constructor(folder: string) {
    this.#path = join(folder, '.progress')
  }

  write(progress: InstallProgress): void {
    replaceFile(this.#path, JSON.stringify({ pid: process.pid, progress }))
  }

  /** Undefined where no installation runs. */
  read(): InstallProgress | undefined {
    try {
      const { pid, progress } = JSON.parse(readTextSync(this.#path) ?? '') as { pid: number; progress: InstallProgress }
      // One that was killed left its file behind.
      process.kill(pid, 0)
      return progress
    } catch {
      return undefined
    }
  }

  remove(): void {
    rmSync(this.#path, { force: true })
  }
}
