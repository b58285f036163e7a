/** `parley models`: the real binary, real servers on the usual ports' places. */
import { afterEach, expect, test } from 'vitest'
import { startModelServer, type ModelServer } from '../model-server/server.ts'
import { parley } from './cli.ts'
import { freshDirectory } from './parley.ts'

let server: ModelServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

/** No provider of whoever runs this test. */
const without = Object.fromEntries(
  [
    'ANTHROPIC',
    'OPENAI',
    'GEMINI',
    'GOOGLE_GENERATIVE_AI',
    'GOOGLE',
    'OPENROUTER',
    'MISTRAL',
    'DEEPSEEK',
    'GROQ',
    'XAI',
  ].map((name) => [`${name}_API_KEY`, '']),
)

test('lists what is there, which one is chosen, and why the rest cannot be used', async () => {
  server = await startModelServer([], { models: ['gpt-4o', 'mine'], key: 'sentinel-key' })
  const env = { ...without, OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'sentinel-key', MISTRAL_API_KEY: '' }
  const home = freshDirectory()
  const { code, stdout, stderr } = await parley(['models'], { home, env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(`OpenAI at ${server.url}`)
  expect(stdout).toMatch(/\* openai:gpt-4o\s+images/u)
  expect(stdout).toMatch(/Anthropic\s+Set ANTHROPIC_API_KEY to use it\./u)
  expect(stdout).not.toContain('sentinel')
})

test('--json is a line for each provider, and --provider leaves the others out', async () => {
  server = await startModelServer([], { models: ['llama'] })
  const env = { ...without, PARLEY_DISCOVER_LOCAL_MODELS: 'true', OLLAMA_HOST: new URL(server.url).host }
  const { code, stdout } = await parley(['models', '--json', '--provider', 'ollama'], { home: freshDirectory(), env })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ provider: 'ollama', models: [{ name: 'ollama:llama' }] })
  const nobody = await parley(['models', '--provider', 'nobody'], { home: freshDirectory(), env })
  expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no such provider') })
})
