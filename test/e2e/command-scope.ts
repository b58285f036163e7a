/**
 * Runs commands of the built program in the process of the tests, each with streams, environment, directory and signals of its
 * own: a process of its own costs ten times as much. A command that holds something open ends here all the same, so what is
 * said of processes is tested with processes.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import os from 'node:os'
import { PassThrough } from 'node:stream'
import { binary } from './parley.ts'

/** What a command finds on `process`. */
interface Scope {
  readonly stdin: PassThrough
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  readonly env: Record<string, string>
  readonly argv: readonly string[]
  readonly cwd: string
  /** Its signals, and those of its errors that nothing catches. */
  readonly events: EventEmitter
  exit(code: number): void
}

const scopes = new AsyncLocalStorage<Scope>()

interface Program {
  main(argv: readonly string[]): Promise<number>
}

let loaded: Program | undefined

/** What `bin/parley.mjs` loads. */
function program(): Program {
  if (loaded === undefined) {
    scopeProcess()
    loaded = createRequire(import.meta.url)('../../dist/main.cjs') as Program
  }
  return loaded
}

/** Inside a command `process` is that command's; for everything else it stays what it is. */
function scopeProcess(): void {
  for (const name of ['stdin', 'stdout', 'stderr', 'env', 'argv'] as const) {
    const found = Object.getOwnPropertyDescriptor(process, name)
    const own = (): unknown => (found?.get === undefined ? found?.value : found.get.call(process))
    const get = (): unknown => scopes.getStore()?.[name] ?? own()
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get })
  }
  const own = Object.fromEntries(
    ['cwd', 'exit', 'kill', 'on', 'once', 'off'].map((name) => [name, bound(name)] as const),
  )
  for (const name of ['on', 'once', 'off'] as const)
    Object.assign(process, {
      [name](event: string, listener: () => void) {
        const events = scopes.getStore()?.events
        if (events === undefined) own[name]?.(event, listener)
        else events[name](event, listener)
        return process
      },
    })
  const homedir = bound('homedir', os)
  Object.assign(os, { homedir: () => scopes.getStore()?.env['HOME'] ?? homedir() })
  Object.assign(process, {
    cwd: () => scopes.getStore()?.cwd ?? own['cwd']?.(),
    exit(code = 0) {
      const scope = scopes.getStore()
      if (scope === undefined) own['exit']?.(code)
      else scope.exit(code)
    },
    kill(pid: number, signal?: string | number) {
      if (scopes.getStore() !== undefined && pid === process.pid && signal !== 0)
        throw new Error(`a command in the process of the tests sends it ${signal}; give it a process of its own`)
      return own['kill']?.(pid, signal)
    },
  })
}

function bound(name: string, on: object = process): (...args: readonly unknown[]) => unknown {
  const method = Reflect.get(on, name) as (...args: readonly unknown[]) => unknown
  return method.bind(on)
}

export interface CommandPlace {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

export interface RunningCommand {
  readonly stdin: PassThrough
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  /** The exit code. */
  readonly ended: Promise<number>
  /** Resolves with the whole line that has `text`; rejects when it ends without. */
  printed(text: string): Promise<string>
  signal(name: 'SIGINT' | 'SIGTERM'): void
}

export function runCommand(args: readonly string[], { env, cwd }: CommandPlace): RunningCommand {
  const parley = program()
  const [stdin, stdout, stderr, events] = [new PassThrough(), new PassThrough(), new PassThrough(), new EventEmitter()]
  const argv = [process.execPath, binary, ...args]
  let exit: (code: number) => void = () => undefined
  const exited = new Promise<number>((resolve) => (exit = resolve))
  const scope: Scope = { stdin, stdout, stderr, env: { ...env }, argv, cwd, events, exit }
  const ended = Promise.race([exited, scopes.run(scope, () => parley.main(args))])
  const end = (): void => {
    stdout.end()
    stderr.end()
    // Who has ended hears no signal: the third one to a server ends its process.
    events.removeAllListeners()
  }
  void ended.then(end, end)
  return {
    stdin,
    stdout,
    stderr,
    ended,
    printed: (text) => printed(text, { stdout, stderr, ended }),
    // Its handlers are the command's: one may end it.
    signal: (name) => void scopes.run(scope, () => events.emit(name, name)),
  }
}

function printed(text: string, { stdout, stderr, ended }: Pick<RunningCommand, 'stdout' | 'stderr' | 'ended'>) {
  return new Promise<string>((resolve, reject) => {
    let heard = ''
    for (const stream of [stdout, stderr])
      stream.on('data', (chunk: Buffer | string) => {
        heard += String(chunk)
        const line = heard
          .split('\n')
          .slice(0, -1)
          .find((one) => one.includes(text))
        if (line !== undefined) resolve(`${line}\n`)
      })
    void ended.then((code) => reject(new Error(`ended with ${code} and without ${text}: ${heard}`)), reject)
  })
}
