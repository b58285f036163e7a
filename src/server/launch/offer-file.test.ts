/** The stored response to `initialize` for the next client: used only where the server would answer the same. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { loadConfig } from '../../config/load.ts'
import { OfferFile } from './offer-file.ts'

async function offersIn(home: string, settings: Readonly<Record<string, string>> = {}): Promise<OfferFile> {
  return new OfferFile(await loadConfig({}, { PARLEY_HOME: home, XDG_CONFIG_HOME: '/dev/null', ...settings }, '/'))
}

test('is read by the next client with the same configuration, and by no other', async () => {
  const home = newDirectory()
  await (await offersIn(home)).remember({ protocolVersion: 1 })
  expect(await (await offersIn(home)).find()).toEqual({ protocolVersion: 1 })
  for (const other of [{ PARLEY_AGENT: 'guide' }, { PARLEY_EXPERIMENTAL: 'true' }, { PARLEY_SERVER_TOKEN: 'hush' }])
    expect(await (await offersIn(home, other)).find()).not.toEqual({ protocolVersion: 1 })
  expect(statSync(join(home, 'offer.json')).mode & 0o777).toBe(0o600)
})

test('is stored for each agent, for a limited number of them', async () => {
  const home = newDirectory()
  const agents = Array.from({ length: 12 }, (_, at) => `acp:agent-${at}`)
  for (const agent of agents) await (await offersIn(home, { PARLEY_AGENT: agent })).remember({ agent })
  const found = await Promise.all(agents.map(async (agent) => (await offersIn(home, { PARLEY_AGENT: agent })).find()))
  expect(found).toEqual([...Array<undefined>(4).fill(undefined), ...agents.slice(4).map((agent) => ({ agent }))])
})

test.each(['', '{"half', '[1]', '{"key":7}'])('a damaged file is ignored and written anew: %s', async (text) => {
  const offers = await offersIn(newDirectory({ 'offer.json': text }), { PARLEY_AGENT: 'script:/one.json' })
  expect(await offers.find()).toBeUndefined()
  await offers.remember({ protocolVersion: 1 })
  expect(await offers.find()).toEqual({ protocolVersion: 1 })
})

test('contains no secret', async () => {
  const home = newDirectory()
  const secrets = { PARLEY_SERVER_TOKEN: 'hush-1', PARLEY_TOKEN: 'hush-2', OPENAI_API_KEY: 'hush-3' }
  await (await offersIn(home, secrets)).remember({ protocolVersion: 1 })
  expect(readFileSync(join(home, 'offer.json'), 'utf8')).not.toContain('hush')
})

test('before the first server it follows from the settings alone, and is absent where that is not enough', async () => {
  const found = async (settings: Readonly<Record<string, string>>) => (await offersIn(newDirectory(), settings)).find()
  const enough = ['guide', 'model:openai:gpt-5.1'].map((agent) => ({ PARLEY_AGENT: agent }))
  for (const settings of [{}, ...enough, { PARLEY_EXPERIMENTAL: 'true' }])
    expect(await found(settings)).toMatchObject({ protocolVersion: 1 })
  const open = ['script:/one.json', 'acp:claude', 'claude'].map((agent) => ({ PARLEY_AGENT: agent }))
  const ofUser = { XDG_CONFIG_HOME: newDirectory({ 'parley/parley.toml': 'max_steps = 7' }) }
  for (const settings of [...open, { PARLEY_SERVER_TOKEN: 'hush' }, ofUser])
    expect(await found(settings)).toBeUndefined()
})

test('a missing state directory is no error', async () => {
  const offers = await offersIn(newDirectory(), { PARLEY_AGENT: 'acp:claude' })
  await expect(new OfferFile({ ...(await loadConfig()), home: '/dev/null/none' }).remember({})).resolves.toBeUndefined()
  expect(await offers.find()).toBeUndefined()
})
