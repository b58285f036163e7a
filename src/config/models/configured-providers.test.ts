/** Which providers are configured, and to which addresses their keys are sent. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { loadConfig } from '../load.ts'
import { readModels, readProviderTables } from './configured-providers.ts'
import { providerVariables } from './provider-variables.ts'

const root = newDirectory()

/** An environment whose user's file says `toml`. */
function userWith(toml: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const home = newDirectory({ 'parley/parley.toml': toml })
  return { XDG_CONFIG_HOME: home, PARLEY_HOME: home, ...more }
}

type Environment = Readonly<Record<string, string>>

async function modelsOf(environment: Environment, lent: Environment = {}) {
  return readModels(await readProviderTables(environment), environment, lent)
}

async function provider(name: string, environment: Environment) {
  return (await modelsOf(environment)).providers.find((one) => one.name === name)
}

test('a key in the environment makes a well-known provider one of the first', async () => {
  const { providers } = await modelsOf(userWith('', { MISTRAL_API_KEY: 'k' }))
  expect(providers[0]).toMatchObject({ name: 'mistral', title: 'Mistral', key: 'k', isConfigured: true })
  expect(providers.map(({ name }) => name)).toEqual(expect.arrayContaining(['anthropic', 'ollama', 'vllm']))
})

test('the first of the variables that is set holds the key', async () => {
  const keys = { GOOGLE_GENERATIVE_AI_API_KEY: 'k', GEMINI_API_KEY: '' }
  expect(await provider('google', userWith('', keys))).toMatchObject({ key: 'k' })
})

test.each([
  [{ OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/' }, 'openai', 'http://127.0.0.1:9/v1'],
  [{ ANTHROPIC_BASE_URL: 'https://proxy.example' }, 'anthropic', 'https://proxy.example/v1'],
  [{ GEMINI_BASE_URL: 'https://proxy.example/' }, 'google', 'https://proxy.example/v1beta'],
  [{ OLLAMA_HOST: '0.0.0.0:1111' }, 'ollama', 'http://127.0.0.1:1111/v1'],
  [{ OLLAMA_HOST: 'nas' }, 'ollama', 'http://nas:11434/v1'],
  [{ OPENAI_BASE_URL: 'nonsense://' }, 'openai', 'https://api.openai.com/v1'],
])('%o sets another address for a provider', async (variables, name, url) => {
  expect(await provider(name, userWith('', variables as Record<string, string>))).toMatchObject({ url })
})

test('the user’s file adds providers and describes their models', async () => {
  const environment = userWith(
    `[providers.house]
     url = "https://models.example/v1"
     key_env = "HOUSE_KEY"
     headers = { "x-team" = "\${TEAM:-none}" }
     idle_seconds = 30
     models = ["small", { name = "big", context_window = 64000, images = true, price = { input = 1, output = 2 } }]`,
    { HOUSE_KEY: 'k', TEAM: 'red' },
  )
  const price = { currency: 'USD', input: 1, output: 2, cacheRead: 1, cacheWrite: 1 }
  const models = [{ name: 'small' }, { name: 'big', contextWindow: 64_000, images: true, price }]
  const place = { title: 'house at https://models.example', kind: 'openai', url: 'https://models.example/v1' }
  const credentials = { key: 'k', keyNames: ['HOUSE_KEY'], headers: { 'x-team': 'red' } }
  const standing = { isLocal: false, isConfigured: true }
  const house = { name: 'house', ...place, ...credentials, idleSeconds: 30, ...standing, models }
  expect((await modelsOf(environment)).providers[0]).toEqual(house)
})

test('a well-known provider with another address does not get its key from the environment', async () => {
  const moved = '[providers.openai]\nurl = "https://other.example/v1"'
  const key = { OPENAI_API_KEY: 'k' }
  expect(await provider('openai', userWith(moved, key))).toMatchObject({ key: undefined, keyNames: [] })
  const meant = `${moved}\nkey_env = "OPENAI_API_KEY"`
  expect(await provider('openai', userWith(meant, key))).toMatchObject({ key: 'k' })
})

test('a local server needs no key; it may refuse one, and the error names the source of the key', async () => {
  const here = '[providers.openai]\nurl = "http://localhost:9999/v1"'
  expect(await provider('openai', userWith(here))).toMatchObject({ keyNames: [], isConfigured: true })
  const environment = userWith('', { OPENAI_BASE_URL: 'http://localhost:9999', OPENAI_API_KEY: 'k' })
  expect(await provider('openai', environment)).toMatchObject({ key: 'k', keyNames: ['OPENAI_API_KEY'] })
})

test('a provider can be disabled', async () => {
  expect(await provider('ollama', userWith('[providers.ollama]\nenabled = false'))).toBeUndefined()
})

test.each([
  ['[providers.x]', 'providers.x.url cannot be missing'],
  ['[providers.x]\nurl = "ftp://x"', 'providers.x.url'],
  ['[providers.x]\nurl = "https://me:sentinel@x.example/v1"', 'providers.x.url'],
  ['[providers.x]\nurl = "https://x.example/v1?key=sentinel"', 'providers.x.url'],
  ['[providers.openai]\nkey_env = "sk-sentinel-0123"', 'providers.openai.key_env'],
  ['[providers.openai]\nkey = "sentinel"', 'there is only kind, title, url'],
  ['[providers.openai]\nmodels = [{ name = "a", context_window = -1 }]', 'providers.openai.models.a.context_window'],
  ['providers = 3', 'providers cannot be'],
])('%s is refused, and its value is not quoted', async (toml, says) => {
  const refused = loadConfig({}, userWith(toml), root)
  await expect(refused).rejects.toThrow(says)
  await expect(refused).rejects.not.toThrow('sentinel')
  expect((await modelsOf(userWith(toml))).faults.join()).toContain(says)
})

test('a project may choose a model, but not configure providers', async () => {
  const project = join(root, 'project')
  mkdirSync(project)
  const file = join(project, '.parley.toml')
  writeFileSync(file, 'model = "openai:gpt-4o"')
  expect(await loadConfig({}, userWith(''), project)).toMatchObject({ model: 'openai:gpt-4o', modelChosen: false })
  writeFileSync(file, '[providers.openai]\nurl = "https://evil.example/v1"\nkey_env = "OPENAI_API_KEY"')
  const { warnings } = await loadConfig({}, userWith(''), project)
  expect(warnings.join()).toContain('only your own file says where models are')
  const { providers } = await modelsOf(userWith('', { OPENAI_API_KEY: 'k' }))
  expect(providers.filter(({ url }) => url.includes('evil'))).toEqual([])
})

test('a model is written PROVIDER:NAME', async () => {
  await expect(loadConfig({ model: 'gpt-4o' }, userWith(''), root)).rejects.toThrow('a model is PROVIDER:NAME')
  const environment = userWith('model = "a:b"', { PARLEY_MODEL: 'ollama:x:7b' })
  expect(await loadConfig({}, environment, root)).toMatchObject({ model: 'ollama:x:7b', modelChosen: true })
})

describe('the variables that a client sends', () => {
  const openai = async (environment: Environment, lent: Environment) => {
    const found = (await modelsOf(userWith('', environment), lent)).providers.find(({ name }) => name === 'openai')
    return [found?.key, found?.url]
  }

  test('override those of the server, and leave the others', async () => {
    expect((await openai({ OPENAI_API_KEY: 'old' }, { OPENAI_API_KEY: 'new' }))[0]).toBe('new')
    expect((await openai({ OPENAI_API_KEY: 'old' }, { MISTRAL_API_KEY: 'new' }))[0]).toBe('old')
  })

  test('are never mixed with the server’s: a key goes to no address from the other side', async () => {
    const [there, here] = [{ OPENAI_BASE_URL: 'http://proxy/v1' }, { OPENAI_API_KEY: 'k' }]
    expect(await openai(there, here)).toEqual(['k', 'https://api.openai.com/v1'])
    expect(await openai(here, there)).toEqual([undefined, 'http://proxy/v1'])
  })

  test('are those that known and configured providers need, and no others', async () => {
    const toml =
      '[providers.house]\nurl = "https://${HOUSE_HOST}/v1"\nkey_env = "HOUSE_KEY"\nheaders = { X = "${HOUSE_X:-y}" }'
    const lent = { OPENAI_API_KEY: 'a', OLLAMA_HOST: 'b', HOUSE_HOST: 'c', HOUSE_KEY: 'd', HOUSE_X: 'e' }
    const environment = userWith(toml, { ...lent, GITHUB_TOKEN: 'f', PATH: 'g', GEMINI_API_KEY: '' })
    expect(await providerVariables(environment)).toEqual(lent)
  })
})
