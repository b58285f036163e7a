import { expect, test } from 'vitest'
import { messageLog } from '../fixtures/mcp/servers.ts'
import { parley } from './cli.ts'
import { freshDirectory } from './parley.ts'

const home = freshDirectory()
const program = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname

function scripted(script: string): readonly string[] {
  return ['mcp', 'test', '--', process.execPath, program, script, messageLog().path]
}

test('parley mcp test shows what a server offers and what is wrong with it', async () => {
  const { code, stdout } = await parley(scripted('has malformed tools among good ones'), { home })
  expect(code).toBe(0)
  expect(stdout).toContain('scripted  ready, MCP 2025-11-25, legacy')
  expect(stdout).toContain('test__say')
  expect(stdout).toContain('tool "no-schema" was left out: its inputSchema does not describe an object.')
})

test('--json is one object, with resources and prompts', async () => {
  const [mcp, verb, ...rest] = scripted('has resources and prompts')
  const { stdout } = await parley([mcp ?? '', verb ?? '', '--json', ...rest], { home })
  expect(JSON.parse(stdout)).toMatchObject({
    servers: [{ state: 'ready', era: 'legacy' }],
    tools: [{ name: 'test__say' }, { name: 'test__do' }],
    resources: [{ uri: 'test://one' }],
    prompts: [{ name: 'test__review' }],
  })
})

test('a server that cannot be connected says why, and without words the usage is told', async () => {
  const { code, stdout } = await parley(['mcp', 'test', '--', 'no-such-server'], { home })
  expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('no-such-server was not found') })
  expect((await parley(['mcp', 'test'], { home })).code).toBe(2)
  const header = await parley(['mcp', 'test', 'http://127.0.0.1:9/', '--header', 'sentinel-secret'], { home })
  expect(header.code).toBe(2)
  expect(header.stderr).not.toContain('sentinel')
})
