import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDirectory } from '../../test/fixtures/process/new-directory.ts'
import { diagnoseConfig } from './diagnose.ts'
import { loadConfig, loadLenient } from './load.ts'
import { requirePrivateState } from './private.ts'
import { ignoredPlaces, stateDirectory, userFile } from './places.ts'

const directory = newDirectory()

test('a home that is no directory, as services have it, is answered with what to set', () => {
  const reason = 'a part of its path is not a directory; set PARLEY_HOME to a directory of your own'
  expect(() => requirePrivateState('/dev/null/.local/state/parley')).toThrow(reason)
})

test('an invalid settings file is reported, and the state directory stays the same', async () => {
  const wrong = newDirectory({ 'parley/parley.toml': 'agnet = "guide"\n' })
  const environment = { PARLEY_HOME: join(wrong, 'state'), XDG_CONFIG_HOME: wrong }
  const { config, fault } = await loadLenient(environment, wrong)
  expect(config.home).toBe(join(wrong, 'state'))
  expect(fault).toContain('perhaps agent is meant')
  expect((await loadLenient({ ...environment, XDG_CONFIG_HOME: directory }, directory)).fault).toBeUndefined()
})

test('a relative state directory is refused with the absolute one, for each working directory would have its own sessions', async () => {
  const environment = { PARLEY_HOME: 'state', XDG_CONFIG_HOME: directory }
  const refusal = 'type PARLEY_HOME=/here/state'
  await expect(loadLenient(environment, '/here')).rejects.toThrow(refusal)
  await expect(loadConfig({}, environment, '/here')).rejects.toThrow(refusal)
})

test('a relative XDG directory is ignored, as the specification demands, with a warning', async () => {
  const environment = { XDG_STATE_HOME: 'state', XDG_CONFIG_HOME: './config' }
  expect(stateDirectory(environment)).toBe(stateDirectory({}))
  expect(userFile(environment)).toBe(userFile({}))
  expect(stateDirectory({}).startsWith(homedir())).toBe(true)
  expect(stateDirectory({ XDG_STATE_HOME: '/state' })).toBe('/state/parley')
  const told = [
    'XDG_STATE_HOME is ignored, because state is not an absolute path.',
    'XDG_CONFIG_HOME is ignored, because ./config is not an absolute path.',
  ]
  expect(ignoredPlaces({ ...environment, PARLEY_HOME: 'here' })).toEqual(told)
  expect(ignoredPlaces({ XDG_STATE_HOME: '/state', XDG_CONFIG_HOME: '' })).toEqual([])
  const { faults } = await diagnoseConfig({ PARLEY_HOME: directory, XDG_STATE_HOME: 'state' }, directory)
  expect(faults).toContain(told[0])
})
