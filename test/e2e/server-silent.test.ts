/** A server that hangs: it accepts connections and answers none. */
import { afterEach, expect, test } from 'vitest'
import { holderOf } from '../../src/server/holder.ts'
import { Cli, endServers, parley } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

const stopped: number[] = []
afterEach(() => {
  for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT')
})
endServers()

async function hanging(): Promise<{ readonly home: string; readonly agent: string }> {
  const home = freshDirectory()
  const agent = await scriptAgent(home, [{ chunk: 'Hi.' }])
  await parley(['run', 'hi'], { home, agent })
  const pid = holderOf(home)?.pid
  if (pid === undefined) throw new Error('there is no server')
  stopped.push(pid)
  process.kill(pid, 'SIGSTOP')
  return { home, agent }
}

// Each waits for the sentence that comes when nothing was answered for a while; so they wait together.
test('while the server hangs, a signal ends whoever waits for it at once', async () => {
  const cases = [
    ['SIGINT', 'run hi', 130],
    ['SIGTERM', 'new', 75],
  ] as const
  const endings = cases.map(async ([signal, words, code]) => {
    const cli = new Cli(words.split(' '), await hanging())
    while (!cli.stderr.includes('does not respond')) await new Promise((resolve) => cli.child.once('heard', resolve))
    cli.child.kill(signal)
    expect(await cli.finished).toMatchObject({ code, signal: null, stdout: '' })
  })
  await Promise.all(endings)
})

test('an agent that says nothing keeps nobody who leaves', async () => {
  const home = freshDirectory()
  const cli = new Cli(['run', '--agent-command', 'echo begun >&2; exec sleep 1000', 'hi'], { home })
  while (!cli.stderr.includes('begun')) await new Promise((resolve) => cli.child.once('heard', resolve))
  cli.child.kill('SIGTERM')
  expect(await cli.finished).toMatchObject({ code: 75, signal: null })
})
