/** Commands that an agent runs on this machine, each in its own process group, with the end of their output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type {
  ClientTerminals,
  TerminalExit,
  TerminalOutput,
  TerminalRequest,
} from '../../client/incoming/client-methods.ts'
import { fail, reasonOf } from '../../errors/parley-error.ts'
import { after } from '../output/terminal/pace.ts'
import { pathInside } from './root-set.ts'
import { Tail } from './tail.ts'

/** How much of an output is kept where the agent sets no limit. Bytes. */
const DEFAULT_OUTPUT_BYTES = 1024 * 1024

/** How long to wait for the last output of a command that has ended. Milliseconds. */
const LAST_OUTPUT_MS = 100

interface Running {
  readonly child: ChildProcess
  readonly tail: Tail
  readonly ended: Promise<TerminalExit>
  exit: TerminalExit | undefined
}

export class LocalTerminals implements ClientTerminals {
  readonly #running = new Map<string, Running>()
  readonly #environment: Readonly<Record<string, string | undefined>>
  #count = 0

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment
  }

  async create(request: TerminalRequest): Promise<string> {
    const cwd = await pathInside(request.cwd ?? request.roots[0] ?? '/', request.roots)
    const child = await this.#start(request, cwd)
    this.#count += 1
    const id = `terminal-${this.#count}`
    this.#running.set(id, follow(child, request.outputByteLimit ?? DEFAULT_OUTPUT_BYTES))
    return id
  }

  async output(id: string): Promise<TerminalOutput> {
    const { tail, exit } = this.#of(id)
    return { ...tail.text(), ...(exit === undefined ? {} : { exitStatus: exit }) }
  }

  exited(id: string): Promise<TerminalExit> {
    return this.#of(id).ended
  }

  async kill(id: string): Promise<void> {
    const { child, exit } = this.#of(id)
    if (exit === undefined) killGroup(child)
  }

  async release(id: string): Promise<void> {
    const { child } = this.#of(id)
    this.#running.delete(id)
    // Also what the command has left behind.
    killGroup(child)
  }

  /** Ends whatever still runs. */
  close(): void {
    for (const { child } of this.#running.values()) killGroup(child)
    this.#running.clear()
  }

  #of(id: string): Running {
    return this.#running.get(id) ?? fail('TERMINAL_UNKNOWN', { terminal: id })
  }

  async #start({ command, args, env }: TerminalRequest, cwd: string): Promise<ChildProcess> {
    const added = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    // Some agents give a whole line as the command.
    const isLine = args.length === 0 && /\s/u.test(command)
    const [file, words] = isLine ? ['/bin/sh', ['-c', command]] : [command, [...args]]
    const child = spawn(file, words, {
      cwd,
      env: { ...this.#environment, ...added },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    try {
      await once(child, 'spawn')
      return child
    } catch (error) {
      return fail('PROCESS_SPAWN', { command, reason: reasonOf(error) }, error)
    }
  }
}

function follow(child: ChildProcess, limit: number): Running {
  const tail = new Tail(limit)
  child.stdout?.on('data', (bytes: Buffer) => tail.add(bytes))
  child.stderr?.on('data', (bytes: Buffer) => tail.add(bytes))
  const ended = new Promise<TerminalExit>((resolve) => {
    child.on('exit', () => (running.exit = exitOf(child)))
    // The last output is read when the pipes close, but processes that the command left behind may hold them open.
    child.on('exit', () => after(LAST_OUTPUT_MS, () => resolve(exitOf(child))))
    child.on('close', () => resolve(exitOf(child)))
  })
  const running: Running = { child, tail, ended, exit: undefined }
  return running
}

function exitOf({ exitCode, signalCode }: ChildProcess): TerminalExit {
  return { exitCode, signal: signalCode }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}
