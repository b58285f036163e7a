#!/usr/bin/env node
/** The agent for tests as a process: `node agent.mjs HOME`. */
import { spawn } from 'node:child_process'
import { writeSync } from 'node:fs'
import { logOf, planIn, playAgent } from './play-agent.mjs'

const [, program, home, inner] = process.argv
const plan = planIn(home)
const world = {
  home,
  pid: process.pid,
  cwd: process.cwd(),
  env: process.env,
  input: process.stdin,
  over: new AbortController().signal,
  write: (bytes) => writeAll(1, bytes),
  complain: (bytes) => writeAll(2, bytes),
  exit: (code) => process.exit(code),
  kill: (signal) => process.kill(process.pid, signal),
  crash(error) {
    throw error
  },
}
const log = logOf(world)

/** At once, however slow the reader is: an agent whose pipe is full stands still. */
function writeAll(descriptor, bytes) {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(descriptor, bytes, at)
    } catch (error) {
      // Whoever read it is gone; the end of the input says so too.
      if (error.code === 'EPIPE') return
      if (error.code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  }
}

if (plan.isWrapped && inner === undefined) {
  log({ start: { cwd: world.cwd, env: world.env }, event: 'wrapper' })
  const child = spawn(process.execPath, [program, home, 'inner'], { stdio: 'inherit' })
  child.on('exit', (code) => process.exit(code ?? 1))
} else {
  process.on('exit', () => log({ event: 'exit' }))
  process.on('SIGTERM', () => {
    log({ event: 'SIGTERM' })
    if (!plan.ignores?.includes('SIGTERM')) process.exit(143)
  })
  await playAgent(world)
}
