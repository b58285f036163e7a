/** A word that is no setting, in a file of a project: it keeps nobody from seeing to the server. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { holderOf } from '../../src/server/holder.ts'
import { endServers, parley, workIn } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

endServers()

test('status, logs and stop say what is wrong and do what they are for; a prompt is refused', async () => {
  const home = freshDirectory()
  const run = { home, agent: await scriptAgent(home, [{ chunk: 'Hi.' }]) }
  await parley(['run', 'hi'], run)
  writeFileSync(join(workIn(home), '.parley.toml'), 'agnet = "guide"\n')
  const told =
    /^parley: .*\.parley\.toml:1.*perhaps agent is meant|^parley: .*perhaps agent is meant.*\.parley\.toml:1/u
  const refused = await parley(['run', 'hi'], run)
  expect([refused.code, refused.stdout]).toEqual([2, ''])
  const status = await parley(['status', '--json'], run)
  expect([status.code, JSON.parse(status.stdout)]).toMatchObject([0, { pid: holderOf(home)?.pid }])
  expect(status.stderr).toMatch(told)
  const logs = await parley(['logs'], run)
  expect([logs.code, logs.stdout === '']).toEqual([0, false])
  const stop = await parley(['stop'], run)
  expect([stop.code, stop.stdout]).toEqual([0, expect.stringContaining('has stopped')])
  expect(stop.stderr).toMatch(told)
  expect(holderOf(home)).toBeUndefined()
})
