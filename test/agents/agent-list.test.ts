/** The list of agents that a server tells its clients: what is in it, and what changes it. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/adapters/clock.ts'
import { loadConfig } from '../../src/config/load.ts'
import { ProgressFile } from '../../src/adapters/agent/external/install/progress.ts'
import { AgentList, type AgentsOnWire } from '../../src/server/agents/agent-list.ts'
import { freshDirectory } from '../e2e/parley.ts'
import { until } from '../fixtures/process/running.ts'

/** A user's file, a state directory, and the lists that a client was told. */
async function watched() {
  const home = freshDirectory()
  const [state, config] = [join(home, 'state'), join(home, 'config', 'parley')]
  mkdirSync(config, { recursive: true })
  const environment = { XDG_STATE_HOME: join(home, 'xdg'), XDG_CONFIG_HOME: join(home, 'config'), PATH: '/nowhere' }
  const reported: unknown[] = []
  const list = new AgentList({
    config: { ...(await loadConfig({}, environment, home)), home: state },
    default: 'guide',
    clock: { setTimer: (ms, run) => systemClock.setTimer(ms / 50, run) },
    report: (error) => reported.push(error),
  })
  const told: AgentsOnWire[] = []
  const stop = list.watch((now) => told.push(now))
  await until(() => told.length === 1)
  const named = (name: string) => told.at(-1)?.agents.find((agent) => agent.name === name)
  return { state, settings: join(config, 'parley.toml'), list, told, stop, named, reported }
}

test('a list has what can be named and what each needs, but neither commands nor files', async () => {
  const { list, settings, told, named, stop, reported } = await watched()
  expect(named('claude')).toMatchObject({ source: 'none', login: 'unknown', isVerified: false })
  writeFileSync(settings, '[agents.mine]\ncommand = "/bin/sh"\n')
  await until(() => named('mine') !== undefined)
  expect(named('mine')).toEqual({ name: 'mine', source: 'user', isVerified: false, login: 'unknown' })
  expect(await list.list()).toEqual(told.at(-1))
  writeFileSync(settings, '[agents.mine]\ncommand = "/bin/sh"\nargs = ["${MINE_KEY}"]\n')
  await until(() => named('mine')?.reason !== undefined)
  expect(named('mine')?.reason).toMatch(/^It cannot be started .*parley agents ls says why\.$/u)
  expect(JSON.stringify(told)).not.toMatch(/MINE_KEY|parley\.toml|\/opt\/mine/u)
  stop()
  expect(reported).toEqual([])
})

test('an installation is reported while it runs, and then what it installed', async () => {
  const { state, named, stop } = await watched()
  const folder = join(state, 'agents', 'gemini')
  mkdirSync(folder, { recursive: true })
  const progress = new ProgressFile(folder)
  progress.write({ step: 'download', bytes: 1024, total: 4096 })
  await until(() => named('gemini')?.installing !== undefined)
  expect(named('gemini')).toMatchObject({ source: 'none', installing: { step: 'download', bytes: 1024, total: 4096 } })
  progress.remove()
  await until(() => named('gemini')?.installing === undefined)
  stop()
})

test('an installation that is killed is over', async () => {
  const { state, named, stop } = await watched()
  const folder = join(state, 'agents', 'gemini')
  mkdirSync(folder, { recursive: true })
  const installer = spawn('sleep', ['60'])
  const { pid } = installer
  writeFileSync(join(folder, '.progress'), JSON.stringify({ pid, progress: { step: 'unpack' } }))
  await until(() => named('gemini')?.installing !== undefined)
  installer.kill('SIGKILL')
  await until(() => named('gemini')?.installing === undefined)
  stop()
})

test('a client that connects later gets the list too, and one that has left gets nothing more', async () => {
  const { list, told, named, settings, stop } = await watched()
  const later: AgentsOnWire[] = []
  const stopLater = list.watch((now) => later.push(now))
  expect(later).toEqual(told)
  stop()
  const count = told.length
  writeFileSync(settings, '[agents.mine]\ncommand = "/bin/sh"\n')
  await until(() => later.length === 2)
  stopLater()
  expect([told.length, named('mine')]).toEqual([count, undefined])
})
