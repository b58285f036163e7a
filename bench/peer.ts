/** A child process under measurement, spoken to over its pipes. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { cleanEnvironment } from '../test/e2e/environment.ts'
import { residentBytes } from './proc.ts'
import { Talk } from './talk.ts'

export const binary = fileURLToPath(new URL('../bin/parley.mjs', import.meta.url))

export class Peer extends Talk {
  readonly child: ChildProcessByStdio<Writable, Readable, null>

  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    errors: 'inherit' | 'ignore' = 'inherit',
  ) {
    const child = spawn(process.execPath, args, {
      cwd: '/',
      env: { ...cleanEnvironment(), ...env },
      stdio: ['pipe', 'pipe', errors],
    })
    super(child.stdout, child.stdin)
    this.child = child
  }

  /** Resident memory, in bytes. */
  memory(): number {
    return residentBytes(this.child.pid)
  }

  async close(): Promise<void> {
    this.child.stdin.end()
    await this.#ended()
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.#ended()
  }

  async #ended(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close')
  }
}

/** `parley acp --embedded` on a state directory. */
export function parley(home: string, script: string): Peer {
  return new Peer([binary, 'acp', '--embedded', '--agent', `script:${script}`], settings(home))
}

/** Everything that is Parley's in a directory of its own. */
export function settings(home: string): Readonly<Record<string, string>> {
  return { PARLEY_HOME: home, XDG_CONFIG_HOME: `${home}/config` }
}
