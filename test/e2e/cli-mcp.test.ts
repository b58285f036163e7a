/** `parley mcp`: a look at one server, and the servers of the configuration. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { messageLog } from '../fixtures/mcp/servers.ts'
import { serveHere } from './hosted-server.ts'
import { parley } from './cli.ts'
import { freshDirectory, promptOf, scriptAgent } from './parley.ts'
import { RawSocket } from './raw-socket.ts'
import { cleanUpServers, openSession, placeWith } from './server.ts'

cleanUpServers()

const home = freshDirectory()
const program = new URL('../fixtures/mcp/torture-server.mjs', import.meta.url).pathname
const log = messageLog().path

function scripted(script: string): readonly string[] {
  return ['mcp', 'test', '--', process.execPath, program, script, messageLog().path]
}

test.concurrent('parley mcp test shows what a server offers and what is wrong with it', async () => {
  const { code, stdout } = await parley(scripted('has malformed tools among good ones'), { home })
  expect(code).toBe(0)
  expect(stdout).toContain('scripted  ready, MCP 2025-11-25, legacy')
  expect(stdout).toContain('test__say')
  expect(stdout).toContain('tool "no-schema" was left out: its inputSchema does not describe an object.')
})

test.concurrent('--json is one object, with resources and prompts', async () => {
  const [mcp, verb, ...rest] = scripted('has resources and prompts')
  const { stdout } = await parley([mcp ?? '', verb ?? '', '--json', ...rest], { home })
  expect(JSON.parse(stdout)).toMatchObject({
    servers: [{ state: 'ready', era: 'legacy' }],
    tools: [{ name: 'test__say' }, { name: 'test__do' }],
    resources: [{ uri: 'test://one' }],
    prompts: [{ name: 'test__review' }],
  })
})

test.concurrent('a server that cannot be connected says why, and without words the usage is told [L7]', async () => {
  const { code, stdout } = await parley(['mcp', 'test', '--', 'no-such-server'], { home })
  expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('no-such-server was not found') })
  expect((await parley(['mcp', 'test'], { home })).code).toBe(2)
  const header = await parley(['mcp', 'test', 'http://127.0.0.1:9/', '--header', 'sentinel-secret'], { home })
  expect(header.code).toBe(2)
  expect(header.stderr).not.toContain('sentinel')
})

describe.concurrent('the servers of the configuration', () => {
  test.concurrent('are added, listed, tested and removed, and the rest of the file stays as it was', async () => {
    const { file, mcp } = configured('# mine\nidle_minutes = 1 # a comment\n')
    const added = await mcp(
      'add',
      'talker',
      '--env',
      'KEY=sentinel-secret',
      '--',
      process.execPath,
      program,
      'honest',
      log,
    )
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('Added talker') as string })
    expect((await mcp('add', 'talker', '--url', 'http://127.0.0.1:9/')).code).toBe(1)
    const remote = ['remote', '--url', 'http://127.0.0.1:9/mcp?key=sentinel', '--header', 'Authorization: sentinel']
    expect((await mcp('add', ...remote)).code).toBe(0)
    const listed = await mcp('ls')
    expect(listed.stdout).toContain('talker')
    expect(listed.stdout).toContain('http://127.0.0.1:9/mcp\n')
    expect(listed.stdout + listed.stderr).not.toContain('sentinel')
    expect((await mcp('test', 'talker')).stdout).toContain('talker__say')
    expect((await mcp('rm', 'talker')).code).toBe(0)
    expect((await mcp('rm', 'remote')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe('# mine\nidle_minutes = 1 # a comment\n')
    expect((await mcp('rm', 'remote')).code).toBe(1)
  })

  test.concurrent('of a project start nothing in a session until they are allowed, and then they do [Z1]', async () => {
    const { home, cwd, mcp } = configured('')
    const mark = join(home, 'started')
    writeFileSync(join(cwd, '.parley.toml'), `[mcp.sly]\ncommand = "/bin/sh"\nargs = ["-c", "touch '${mark}'"]\n`)
    // The call of what the server might have waits for the server.
    const steps = [{ toolCall: { name: 'sly__any', arguments: {} } }, { chunk: 'done' }]
    const agent = await scriptAgent(home, steps)
    const ask = () => parley(['run', '--embedded', 'go'], { home, cwd, agent })
    expect((await ask()).stdout).toContain('done')
    expect(existsSync(mark)).toBe(false)
    expect((await mcp('ls')).stdout).toContain('not trusted yet')
    expect(JSON.parse((await mcp('ls', '--json')).stdout)).toMatchObject({ name: 'sly', standing: 'waiting' })
    expect((await mcp('trust', 'sly')).stdout).toContain(`touch '${mark}'`)
    expect((await ask()).stdout).toContain('done')
    expect(existsSync(mark)).toBe(true)
    expect((await mcp('rm', 'sly')).stdout).toContain('allowed no longer')
    expect((await mcp('ls')).stdout).toContain('not trusted yet')
  })

  test.concurrent('are in every session beside those of its client, whose names count, with their rules; ls tells how each is', async () => {
    const server = (name: string) =>
      `[mcp.${name}]\ncommand = "${process.execPath}"\nargs = ["${program}", "honest", "${log}"]\n`
    const rules = 'exclude = ["do"]\nenv = { TOKEN = "${MCP_TEST_TOKEN}" }\n'
    const needy = '[mcp.needy]\nurl = "http://${NOBODY_SET_THIS}/"\n'
    const place = await placeWith([{ sleepMs: 1 }])
    const directory = join(place.home, 'config/parley')
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'parley.toml'), server('mine') + rules + server('both') + needy)
    await serveHere({ ...place, env: { MCP_TEST_TOKEN: 'sentinel-secret' } })
    const client = await RawSocket.open(place.socket, { agent: place.agent })
    const both = { name: 'both', command: 'no-such-server', args: [], env: [] }
    const id = await openSession(client, place, [both])
    await client.request('session/prompt', promptOf(id, 'go'))
    const { stdout, rows } = await vi.waitFor(async () => {
      const listed = await listedServers(place)
      expect(listed.stdout).not.toContain('"connecting"')
      return listed
    }, 30_000)
    expect(rows.find(({ name }) => name === 'mine')).toMatchObject({
      standing: 'active',
      sessions: [{ sessionId: id, state: 'ready', tools: 1, era: 'legacy' }],
    })
    expect(rows.find(({ name }) => name === 'both')).toMatchObject({ sessions: [{ state: 'failed' }] })
    expect(rows.find(({ name }) => name === 'needy')).toMatchObject({
      sessions: [{ reason: expect.stringContaining('${NOBODY_SET_THIS}') as string }],
    })
    expect(stdout).not.toContain('sentinel')
  })
})

async function listedServers({ home, cwd }: { readonly home: string; readonly cwd: string }) {
  const { stdout } = await parley(['mcp', 'ls', '--json'], { home, cwd })
  const lines = stdout.trim().split('\n')
  return { stdout, rows: lines.map((line) => JSON.parse(line) as { name: string }) }
}

function configured(text: string) {
  const state = freshDirectory()
  const [directory, cwd] = [join(state, 'config/parley'), join(state, 'project')]
  mkdirSync(directory, { recursive: true })
  mkdirSync(cwd)
  const file = join(directory, 'parley.toml')
  if (text !== '') writeFileSync(file, text)
  return { home: state, cwd, file, mcp: (...words: string[]) => parley(['mcp', ...words], { home: state, cwd }) }
}
