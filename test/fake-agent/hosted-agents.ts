/**
 * Fake agents in the process of the tests, for what is said of their messages: a process of its own costs ten times as much.
 * A case that says something of the process has one.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fail } from '../../src/errors/parley-error.ts'
import type { Child, ProcessExit, Processes, ProcessSpec } from '../../src/ports/process.ts'
import { PROGRAM, hosted } from './fake-agent.ts'
import { playAgent } from './play-agent.mjs'

/** Of its pipes, its environment, its children, and how it ends. */
const OF_A_PROCESS = /"(?:deafen|grandchild|ignores|isProcess|isWrapped|pieces|raw|stderr)":|\{env\./u

/** Starts all else with `processes`. */
export function hostedAgents(processes: Processes): Processes {
  const own = new Map<number, () => void>()
  return {
    spawn: async (spec, signal) => {
      const [program, home = ''] = spec.args
      return program === PROGRAM &&
        existsSync(spec.cwd) &&
        !OF_A_PROCESS.test(readFileSync(join(home, 'case.json'), 'utf8'))
        ? host(spec, home, own)
        : processes.spawn(spec, signal)
    },
    async close() {
      for (const kill of own.values()) kill()
      await processes.close()
    },
  }
}

/** Numbers that no process of this machine has. */
let lastPid = 2 ** 30

function host({ command, cwd, env }: ProcessSpec, home: string, own: Map<number, () => void>): Child {
  const pid = (lastPid += 1)
  const [input, stdout, over] = [new PassThrough(), new PassThrough(), new AbortController()]
  let ended: (how: ProcessExit) => void = () => undefined
  const exited = new Promise<ProcessExit>((resolve) => (ended = resolve))
  const end = (how: ProcessExit): void => {
    for (const all of [own, hosted]) all.delete(pid)
    over.abort()
    stdout.end()
    ended(how)
  }
  const kill = (signal = 'SIGKILL'): void => end({ code: null, signal })
  for (const all of [own, hosted]) all.set(pid, kill)
  const exit = (code: number): void => end({ code, signal: null })
  const write = (bytes: Uint8Array): void => void (over.signal.aborted || stdout.write(bytes))
  const world = { home, pid, cwd, env, input, over: over.signal, write, complain: write, exit, kill }
  playAgent({ ...world, crash: () => exit(1) }).catch(() => exit(1))
  return {
    pid,
    stdout,
    exited,
    stderrRead: Promise.resolve(),
    stderrTail: () => '',
    usage: async () => undefined,
    write: async (bytes) => {
      if (over.signal.aborted) fail('PROCESS_GONE', { command, reason: 'it has ended' })
      input.write(bytes)
    },
    async stop() {
      input.end()
      // One that reads nothing yet is sent a signal.
      await Promise.race([exited, sleep(50)])
      if (!over.signal.aborted) exit(143)
    },
  }
}
