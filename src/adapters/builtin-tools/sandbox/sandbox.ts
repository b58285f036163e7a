/** The sandbox that commands run in where the user wants one: bubblewrap, tried once before it is relied on. */
import { realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { waitAtMost } from '../../../async/with-timeout.ts'
import { fail, reasonOf } from '../../../errors/parley-error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Processes } from '../../../ports/process.ts'
import type { OwnPrograms } from '../../../ports/values/own-programs.ts'
import { obeyedByGit } from '../../../workspace/git-directory.ts'
import { type Hidden, SECRET_PLACES, sandboxArguments } from './bubblewrap.ts'

export interface SandboxSettings {
  /** `auto`: where it works. `on`: or the command is refused. */
  readonly mode: 'off' | 'auto' | 'on'
  readonly network: boolean
  /** Parley's own state and configuration. */
  readonly hidden: readonly string[]
}

export interface SandboxServices {
  readonly clock: Clock
  readonly processes: Processes
  readonly programs: OwnPrograms
}

/** How a command is started. */
export interface Launch {
  readonly command: string
  readonly args: readonly string[]
}

interface SandboxDirectories {
  readonly cwd: string
  readonly roots: readonly string[]
}

type Trial = { readonly program: string } | { readonly reason: string }

/** For a trial that does nothing: long enough for a machine that is busy. */
const TRIAL_MS = 20_000

const NO_PROGRAM = 'bubblewrap (bwrap) is not installed'

export class CommandSandbox {
  readonly #settings: SandboxSettings
  readonly #services: SandboxServices
  #trial: Promise<Trial> | undefined

  constructor(settings: SandboxSettings, services: SandboxServices) {
    this.#settings = settings
    this.#services = services
  }

  /** Whether commands run in it, or are refused; where not they may run in a terminal of the client. */
  async isUsed(): Promise<boolean> {
    const { mode } = this.#settings
    return mode === 'on' || (mode === 'auto' && 'program' in (await this.try()))
  }

  /** Around this program, or undefined where it runs without. Throws SANDBOX_UNAVAILABLE where it must not. */
  async around(launch: Launch, { cwd, roots }: SandboxDirectories): Promise<Launch | undefined> {
    const { mode, network } = this.#settings
    if (mode === 'off') return undefined
    const trial = await this.try()
    const program = 'program' in trial ? await this.#services.programs.find('bwrap', roots) : undefined
    if (program === undefined && mode === 'auto') return undefined
    if (program === undefined)
      return fail('SANDBOX_UNAVAILABLE', { reason: 'reason' in trial ? trial.reason : NO_PROGRAM })
    const hidden = await this.#hidden()
    const real = await Promise.all(roots.map(resolved))
    const kept = (await Promise.all(real.map(keptIn))).flat()
    const enclosure = sandboxArguments({ roots: real, cwd, network, hidden, kept })
    return { command: program, args: [...enclosure, '--', launch.command, ...launch.args] }
  }

  /** Whether it works here: found, and it can make what it needs. Tried once. */
  try(): Promise<Trial> {
    this.#trial ??= this.#tryOnce()
    return this.#trial
  }

  async #tryOnce(): Promise<Trial> {
    const { processes, programs } = this.#services
    const program = await programs.find('bwrap', [])
    if (program === undefined) return { reason: NO_PROGRAM }
    const network = this.#settings.network
    const nothing = { roots: [], hidden: { directories: [], files: [] }, kept: [] }
    const enclosure = sandboxArguments({ ...nothing, cwd: '/', network })
    try {
      const args = [...enclosure, '--', '/bin/sh', '-c', ':']
      const child = await processes.spawn({ command: program, args, cwd: '/', env: {} })
      const exit = await waitAtMost(child.exited, { clock: this.#services.clock, ms: TRIAL_MS })
      await child.stop(0, 0)
      if (exit?.code === 0) return { program }
      if (exit === undefined) return { reason: `${program} did not end within ${TRIAL_MS / 1000} seconds` }
      return { reason: `${program} failed: ${child.stderrTail().trim().slice(0, 300)}` }
    } catch (error) {
      return { reason: reasonOf(error) }
    }
  }

  /** Looked at before each command: a key may have come meanwhile. */
  async #hidden(): Promise<Hidden> {
    const secrets = SECRET_PLACES.map((name) => join(homedir(), name))
    const places = await Promise.all([...this.#settings.hidden, ...secrets].map(fileKind))
    const of = (kind: 'directory' | 'file') => places.flatMap((one) => (one?.kind === kind ? [one.real] : []))
    return { directories: of('directory'), files: of('file') }
  }
}

function resolved(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

/** A sandboxed command must not write what runs outside the sandbox: git hooks, and the project's rules. */
async function keptIn(root: string): Promise<readonly string[]> {
  const rules = await realpath(join(root, '.parley.toml')).catch(() => undefined)
  return [...(await obeyedByGit(root)), ...(rules === undefined ? [] : [rules])]
}

async function fileKind(path: string) {
  try {
    const real = await realpath(path)
    return { real, kind: (await stat(real)).isDirectory() ? 'directory' : 'file' } as const
  } catch {
    // A missing path needs no hiding.
    return undefined
  }
}
