/** A word that is no setting, in a file of a project: it keeps no user from working there. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readPidFile } from '../../src/server/daemon/pid-file.ts'
import { endServers, parley, workIn } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

endServers()

test.concurrent('every command says where it is and what was meant, and does what it is for', async () => {
  const home = freshDirectory()
  const run = { home, agent: await scriptAgent(home, [{ chunk: 'Hi.' }]) }
  await parley(['run', 'hi'], run)
  writeFileSync(join(workIn(home), '.parley.toml'), 'agnet = "guide"\n')
  const told = /^parley: .*\.parley\.toml:1: agnet is ignored: .*perhaps agent is meant\.\n/u
  const again = await parley(['run', 'hi'], run)
  expect([again.code, again.stdout]).toEqual([0, 'Hi.\n'])
  expect(again.stderr).toMatch(told)
  const status = await parley(['status', '--json'], run)
  expect([status.code, JSON.parse(status.stdout)]).toMatchObject([0, { pid: readPidFile(home)?.pid }])
  expect(status.stderr).toMatch(told)
  const logs = await parley(['logs'], run)
  expect([logs.code, logs.stdout === '']).toEqual([0, false])
  const stop = await parley(['stop'], run)
  expect([stop.code, stop.stdout]).toEqual([0, expect.stringContaining('has stopped')])
  expect(stop.stderr).toMatch(told)
  expect(readPidFile(home)).toBeUndefined()
})

test.concurrent('in the user’s own file it refuses a prompt, with the place and what was meant, also for a table', async () => {
  const home = freshDirectory()
  const file = join(home, 'config', 'parley', 'parley.toml')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '\n[mcp.files]\ncomand = "x"\n')
  const { code, stderr } = await parley(['run', 'hi'], { home })
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/mcp\.files\.comand .*perhaps command is meant .*parley\.toml:3/u),
  ])
})
