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
import { hostedChild } from '../fixtures/process/hosted-child.ts'
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

function host({ command, cwd, env }: ProcessSpec, home: string, own: Map<number, () => void>): Child {
  const { pid, exited, isOver, say, end, child } = hostedChild()
  const [input, over] = [new PassThrough(), new AbortController()]
  const finish = (how: ProcessExit): void => {
    for (const all of [own, hosted]) all.delete(pid)
    over.abort()
    end(how)
  }
  const kill = (signal = 'SIGKILL'): void => finish({ code: null, signal })
  for (const all of [own, hosted]) all.set(pid, kill)
  const exit = (code: number): void => finish({ code, signal: null })
  const world = { home, pid, cwd, env, input, over: over.signal, write: say, complain: say, exit, kill }
  playAgent({ ...world, crash: () => exit(1) }).catch(() => exit(1))
  return child({
    write: async (bytes) => {
      if (isOver()) fail('PROCESS_GONE', { command, reason: 'it has ended' })
      input.write(bytes)
    },
    async stop() {
      input.end()
      // One that reads nothing yet is sent a signal.
      await Promise.race([exited, sleep(50)])
      if (!isOver()) exit(143)
    },
  })
}
