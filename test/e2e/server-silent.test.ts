/** A server that hangs: it accepts connections and answers none. */
import { expect, test } from 'vitest'
import { readPidFile, isAlive } from '../../src/server/daemon/pid-file.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import { Cli, endServers, parley } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

const stopped = new PerTest<number>(async (pids) => {
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGCONT')
})
stopped.closeAfterEach()
endServers()

async function hanging(): Promise<{ readonly home: string; readonly agent: string }> {
  const home = freshDirectory()
  const agent = await scriptAgent(home, [{ chunk: 'Hi.' }])
  await parley(['run', 'hi'], { home, agent })
  const pid = readPidFile(home)?.pid
  if (pid === undefined) throw new Error('there is no server')
  stopped.add(pid)
  process.kill(pid, 'SIGSTOP')
  return { home, agent }
}

/** Begins, and is told that nobody answers. */
async function waiting(words: string) {
  const run = await hanging()
  const cli = new Cli(words.split(' '), run)
  await cli.untilError('does not respond')
  return { cli, server: readPidFile(run.home)?.pid ?? 0 }
}

/** A server that hangs has been asked nothing yet: once it is killed, as the sentence advises, the next one is. */
async function outlivesIt(): Promise<void> {
  const { cli, server } = await waiting('run hi')
  process.kill(server, 'SIGKILL')
  expect(await cli.finished).toMatchObject({ code: 0, stdout: 'Hi.\n' })
}

async function leavesIt(signal: 'SIGINT' | 'SIGTERM', words: string, code: number): Promise<void> {
  const { cli } = await waiting(words)
  cli.child.kill(signal)
  expect(await cli.finished).toMatchObject({ code, signal: null, stdout: '' })
}

test.concurrent('while the server hangs, a signal ends whoever waits at once; who stays goes on with the next server', async () => {
  await Promise.all([leavesIt('SIGINT', 'run hi', 130), leavesIt('SIGTERM', 'new', 75), outlivesIt()])
})

test.concurrent('an agent that says nothing keeps nobody who leaves', async () => {
  const home = freshDirectory()
  const cli = new Cli(['run', '--agent-command', 'echo begun >&2; exec sleep 1000', 'hi'], { home })
  await cli.untilError('begun')
  cli.child.kill('SIGTERM')
  expect(await cli.finished).toMatchObject({ code: 75, signal: null })
})

test.concurrent('parley status of it does not hang', async () => {
  const { home } = await hanging()
  const { code, stderr } = await parley(['status'], { home })
  expect(code).toBe(1)
  expect(stderr).toContain(`pid ${readPidFile(home)?.pid}`)
})
