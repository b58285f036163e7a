/** A server that hangs: it accepts connections and answers none. */
import { afterEach, describe, expect, test } from 'vitest'
import { holderOf } from '../../src/server/holder.ts'
import { Cli, endServers, parley } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

let stopped: number | undefined
afterEach(() => {
  if (stopped !== undefined) process.kill(stopped, 'SIGCONT')
  stopped = undefined
})
endServers()

async function hanging(): Promise<{ readonly home: string; readonly agent: string }> {
  const home = freshDirectory()
  const agent = await scriptAgent(home, [{ chunk: 'Hi.' }])
  await parley(['run', 'hi'], { home, agent })
  stopped = holderOf(home)?.pid
  process.kill(stopped ?? 0, 'SIGSTOP')
  return { home, agent }
}

describe('while the server hangs', () => {
  test.each([
    ['SIGINT', 'run hi', 130],
    ['SIGTERM', 'new', 75],
  ] as const)('%s ends parley %s at once', async (signal, words, code) => {
    const place = await hanging()
    const cli = new Cli(words.split(' '), place)
    // It says so when nothing was answered for a while.
    while (!cli.stderr.includes('does not respond')) await new Promise((resolve) => cli.child.once('heard', resolve))
    cli.child.kill(signal)
    expect(await cli.finished).toMatchObject({ code, signal: null, stdout: '' })
  })
})

test('an agent that says nothing keeps nobody who leaves', async () => {
  const home = freshDirectory()
  const cli = new Cli(['run', '--agent-command', 'echo begun >&2; exec sleep 1000', 'hi'], { home })
  while (!cli.stderr.includes('begun')) await new Promise((resolve) => cli.child.once('heard', resolve))
  cli.child.kill('SIGTERM')
  expect(await cli.finished).toMatchObject({ code: 75, signal: null })
})
