/** `parley agents`: installing, listing, testing, logging in, importing and removing agents, with the real binary. */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parley } from '../e2e/cli.ts'
import { freshDirectory } from '../e2e/parley.ts'
import { FakeAgent } from '../fake-agent/fake-agent.ts'
import { LoopbackRegistry, tarGz } from './loopback-registry.ts'

let registry: LoopbackRegistry
beforeAll(async () => {
  registry = await LoopbackRegistry.open()
})
afterAll(() => registry.close())

/** A user with a state directory, a settings file, a project, and a PATH of their own. */
function user(settings = '') {
  const home = freshDirectory()
  const [work, bin, config] = [join(home, 'work'), join(home, 'bin'), join(home, 'config', 'parley')]
  for (const directory of [work, bin, config]) mkdirSync(directory, { recursive: true })
  const file = join(config, 'parley.toml')
  if (settings !== '') writeFileSync(file, settings)
  const env = {
    PARLEY_AGENTS_REGISTRY: registry.indexUrl,
    npm_config_registry: registry.url,
    npm_config_cache: join(home, 'npm'),
    npm_config_userconfig: join(home, 'npmrc'),
  }
  const agents = (...args: readonly string[]) => parley(['agents', ...args], { home, cwd: work, env })
  return { home, work, file, env, agents }
}

const lines = (stdout: string): readonly Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const entryOf = (id: string, distribution: object): object => ({
  id,
  name: `The ${id}`,
  version: '1.2.3',
  description: 'An agent',
  distribution,
})

/** An agent that answers, and no more. */
const TALKING = `#!/usr/bin/env node
const agentInfo = { name: 'gemini-cli', version: '0.61.0' }
const results = { initialize: { protocolVersion: 1, agentCapabilities: {}, agentInfo }, 'session/new': { sessionId: 's' } }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }) + '\\n')
})
`

describe('add', () => {
  test('installs an agent that Parley knows, without asking the ACP registry', async () => {
    await registry.publish({
      name: '@google/gemini-cli',
      version: '0.61.0',
      files: { 'main.js': TALKING },
      fields: { bin: { gemini: 'main.js' } },
    })
    const { agents, home } = user()
    const asked = registry.asked.length
    const added = await agents('add', 'gemini-cli', '--json')
    expect(added).toMatchObject({ code: 0, stderr: '' })
    expect(lines(added.stdout)).toEqual([
      { progress: { step: 'resolve', what: 'gemini-cli' } },
      { progress: { step: 'npm', what: '@google/gemini-cli@0.61.0', megabytes: 100 } },
      { progress: { step: 'probe' } },
      { added: expect.objectContaining({ name: 'gemini', version: '0.61.0', login: 'done' }) },
    ])
    expect(registry.asked.slice(asked)).not.toContain('/-/acp/registry.json')
    const [row] = lines((await agents('ls', '--json')).stdout)
    expect(row).toMatchObject({ name: 'gemini', source: 'installed', version: '0.61.0', isVerified: true })
    expect(readdirSync(join(home, 'agents', 'gemini'))).toEqual(['0.61.0'])
    expect(await agents('rm', 'gemini@0.61.0')).toMatchObject({ code: 0 })
    expect(lines((await agents('ls', '--json')).stdout)).not.toContainEqual(
      expect.objectContaining({ source: 'installed' }),
    )
  })

  test.concurrent('an agent of the registry is installed only if the user agrees to what is shown', async () => {
    const url = registry.serve('/new-agent.tar.gz', await tarGz({ 'bin/new': '#!/bin/sh\n' }))
    const platform = `${process.platform}-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}`
    registry.list([entryOf('new-agent', { binary: { [platform]: { archive: url, cmd: './bin/new', args: ['acp'] } } })])
    const { agents } = user()
    const refused = await agents('add', 'new-agent')
    expect(refused).toMatchObject({ code: 1, stdout: `new-agent 1.2.3: download ${url}\n` })
    expect(refused.stderr).toContain('add --yes to agree')
    const added = await agents('add', 'new-agent', '--yes')
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('Added new-agent 1.2.3') as string })
    expect(added.stderr).toContain('it could not be asked what it can do: new-agent could not be started')
    const rows = lines((await agents('ls', '--json')).stdout)
    expect(rows).toContainEqual(
      expect.objectContaining({
        name: 'new-agent',
        command: expect.stringMatching(/bin\/new acp$/u),
        isVerified: false,
      }),
    )
  })

  test.concurrent('an agent that nobody knows names those that are meant, and a missing registry is said', async () => {
    const unknown = await user().agents('add', 'co')
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('codex, copilot') })
    const { home, work, env } = user()
    const gone = await parley(['agents', 'add', 'other'], {
      home,
      cwd: work,
      env: { ...env, PARLEY_AGENTS_REGISTRY: 'http://127.0.0.1:1/' },
    })
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('The registry of agents at') })
    expect((await user().agents('add', 'claude@latest')).stderr).toContain('is not an exact version')
    expect((await user().agents('add')).code).toBe(2)
  })

  test.concurrent('what npm says is shown when it fails, and nothing is left', async () => {
    const { agents, home } = user()
    const failed = await agents('add', 'opencode')
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('opencode-ai') })
    expect(readdirSync(join(home, 'agents', 'opencode'))).toEqual([])
  })

  test.concurrent('--from takes over what other tools call their agents', async () => {
    const { agents, file, home } = user('# mine\n')
    const zed = join(home, 'settings.json')
    writeFileSync(
      zed,
      `{
        // A comment, and a comma too many.
        "agent_servers": {
          "Claude Code": { "type": "custom", "command": "my-claude", "args": ["//acp"], "env": { "KEY": "sentinel" } },
          "gemini": { "type": "registry", "default_mode": "plan", "favorite": 1 },
          "broken": { "args": [] },
        },
      }`,
    )
    const asked = await agents('add', '--from', zed)
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('add --yes to agree') })
    expect(asked.stderr).toContain('claude-code: my-claude //acp (with KEY)')
    const added = await agents('add', '--from', zed, '--yes')
    expect(added.stdout).toContain('Added claude-code')
    expect(added.stdout).toContain('Added gemini to')
    expect(added.stdout).toContain('without its favorite')
    expect(added.stderr).toContain('"broken" was not added: it has no command')
    expect(`${added.stdout}${added.stderr}${asked.stdout}${asked.stderr}`).not.toContain('sentinel')
    expect(readFileSync(file, 'utf8')).toMatch(/^# mine\n/u)
    expect(readFileSync(file, 'utf8')).toContain('[agents.gemini]\nregistry = "gemini"\nmode = "plan"\n')
    expect(await agents('rm', 'claude-code')).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).not.toContain('claude-code')
    expect(await agents('rm', 'claude-code')).toMatchObject({ code: 1 })
  })

  test.concurrent('--from reads the file of acpx', async () => {
    const { agents, file, home } = user()
    const acpx = join(home, 'acpx.json')
    const line = `"/opt/my tools/e" --acp 'x y'`
    const theirs = { one: ['a', 'b'], two: { argv: ['c'] }, three: { command: 'd' }, four: { command: line } }
    writeFileSync(acpx, JSON.stringify({ agents: theirs }))
    expect((await agents('add', '--from', acpx, '--yes')).code).toBe(0)
    const written = readFileSync(file, 'utf8')
    const parts = ['command = "a"\nargs = [ "b" ]', 'command = "c"', 'command = "d"', 'e"\nargs = [ "--acp", "x y" ]']
    for (const part of parts) expect(written).toContain(part)
  })
})

describe('an agent of a project', () => {
  test.concurrent('is not started before the user trusts it, and not again after that was taken back', async () => {
    const { agents, work } = user()
    const started = join(work, 'started')
    writeFileSync(join(work, 'agent'), `#!/bin/sh\ntouch ${started}\n`, { mode: 0o755 })
    writeFileSync(join(work, '.parley.toml'), '[agents.theirs]\ncommand = "./agent"\n')
    const refused = await agents('test', 'theirs')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('parley agents trust theirs') })
    expect(existsSync(started)).toBe(false)
    expect((await agents('trust', 'theirs')).stdout).toContain('until it says something else: ./agent')
    expect((await agents('test', 'theirs')).stderr).not.toContain('trust')
    expect((await agents('rm', 'theirs')).stdout).toContain('the consent to theirs')
    expect((await agents('test', 'theirs')).stderr).toContain('parley agents trust theirs')
  })

  test.concurrent('answers in its directory once it is trusted, and the list of sessions says so', async () => {
    const { agents, work, home, env } = user()
    const fake = new FakeAgent(freshDirectory())
    const table = `[agents.theirs]\ncommand = ${JSON.stringify(fake.command)}\nargs = ${JSON.stringify(fake.args)}\n`
    writeFileSync(join(work, '.parley.toml'), table)
    const here = { home, cwd: work, env }
    const run = () => parley(['run', '--embedded', '--agent', 'theirs', 'hello'], here)
    expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining('parley agents trust theirs') })
    await agents('trust', 'theirs')
    expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('echo: hello') })
    const [session] = lines((await parley(['ls', '--json'], here)).stdout)
    expect(session).toMatchObject({ _meta: { 'parley/agent': 'acp:theirs' } })
    expect((await parley(['ls'], here)).stdout).toMatch(/ {2}theirs +hello/u)
    expect(fake.processes).toEqual([])
  })
})

describe('an agent', () => {
  const MODES = {
    currentModeId: 'ask',
    availableModes: [
      { id: 'ask', name: 'Ask' },
      { id: 'yolo', name: 'Yolo' },
    ],
  }
  const COMMANDS = { sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'x', description: 'y' }] }

  function withFake(plan: ConstructorParameters<typeof FakeAgent>[1]) {
    const fake = new FakeAgent(freshDirectory(), plan)
    const args = JSON.stringify(fake.args)
    const own = user(`[agents.fake]\ncommand = ${JSON.stringify(fake.command)}\nargs = ${args}\n`)
    return { fake, ...own }
  }

  test.concurrent('is tested without a prompt and without a login, and nothing of it stays', async () => {
    const { fake, agents, home } = withFake({
      info: { name: 'faker', version: '9.9.9' },
      capabilities: {
        loadSession: true,
        sessionCapabilities: { close: {}, delete: {} },
        promptCapabilities: { image: true },
      },
      settings: { modes: MODES },
      authMethods: [{ id: 'key', name: 'A key' }],
      on: { 'session/new': [{ answer: { sessionId: 's' } }, { update: COMMANDS }] },
    })
    const tested = await agents('test', 'fake')
    expect(tested.stderr).toBe('')
    expect(tested.stdout).toContain('faker 9.9.9 (not tried with Parley in this version)')
    expect(tested.stdout).toContain('Sessions: load, close, delete')
    expect(tested.stdout).toContain('! It has not been tried with Parley yet')
    expect(fake.received('authenticate')).toEqual([])
    expect(fake.prompts).toEqual([])
    expect(fake.processes).toEqual([])
    expect(fake.received('session/delete').length).toBe(1)
    const stored = JSON.parse(readFileSync(join(home, 'agents', 'offers', 'fake.json'), 'utf8'))
    expect(stored.offers).toMatchObject({
      agentName: 'faker',
      version: '9.9.9',
      promptKinds: { image: true },
      needsLogin: false,
    })
    expect((await agents('ls')).stdout).toContain('fake   (version 9.9.9, your parley.toml')
  })

  test.concurrent('answers prompts where that is asked for, and what it did is shown', async () => {
    const long = [{ chunk: '1' }, { untilCancel: true }] as const
    const { fake, agents } = withFake({
      prompts: { '*': [{ if: 'Count', moves: long, else: [{ chunk: 'parley' }] }] },
      textIds: true,
    })
    const tested = await agents('test', 'fake', '--prompts')
    expect(tested).toMatchObject({ code: 0, stderr: '' })
    expect(tested.stdout).toContain('! It answers with ids as texts ("3" for 3)')
    expect(tested.stdout).toMatch(/✓ session\/prompt +end_turn after \d+ ms\n✓ lateMs +0 ms \(its row says 0\)/u)
    expect(tested.stdout).toMatch(/✓ session\/cancel +cancelled after \d+ ms\n$/u)
    expect(fake.prompts).toHaveLength(2)
  })

  test.concurrent('that wants a login says so, and has it when the user has logged in', async () => {
    const { fake, agents } = withFake({ needsLogin: true, authMethods: [{ id: 'key', name: 'A key' }] })
    const tested = await agents('test', 'fake')
    expect(tested.stdout).toContain('It wants a login: parley agents login fake')
    expect((await agents('ls')).stdout).toContain('needs a login')
    expect((await agents('login', 'fake', 'other')).stderr).toContain('The agent offers: key (A key).')
    const done = await agents('login', 'fake', 'key')
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('Logged in to fake.') })
    expect(fake.received('authenticate')).toEqual([{ methodId: 'key' }])
    expect((await agents('ls')).stdout).not.toContain('needs a login')
  })

  test.concurrent('whose login is a page and a code shows both, and goes on', async () => {
    const ask = (url: string) => {
      const params = { mode: 'url', elicitationId: 'e', message: 'Type the code AB-12', url }
      return { request: 'elicitation/create', params } as const
    }
    const page = `https://login.example/device?state=${'a'.repeat(4_000)}`
    const { fake, agents } = withFake({
      needsLogin: true,
      authMethods: [{ id: 'code', name: 'A code' }],
      on: { authenticate: [ask(page), ask('file:///etc/passwd'), ask(`${page}${'b'.repeat(5_000)}`)] },
    })
    const done = await agents('login', 'fake')
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('Logged in to fake.') })
    expect(done.stderr).toContain(`Type the code AB-12\nOpen ${page}\n`)
    expect(done.stderr).not.toContain('file:')
    expect(done.stderr).toMatch(/has an address of 9035 characters, more than 8192\n$/u)
    const answers = fake.log.flatMap(({ got }) => (got?.['result'] === undefined ? [] : [got['result']]))
    expect(answers).toEqual([{ action: 'accept' }, { action: 'cancel' }, { action: 'cancel' }])
  })

  test.concurrent('whose login is in a terminal shows the command where there is none', async () => {
    const login = { id: 'tty', name: 'In a terminal', type: 'terminal', args: ['--login'] }
    const { fake, agents } = withFake({ needsLogin: true, authMethods: [login] })
    const refused = await agents('login', 'fake')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${fake.home} --login`) })
  })

  test.concurrent('that cannot be started says what it wrote', async () => {
    const { agents } = user('[agents.bad]\ncommand = "/bin/sh"\nargs = ["-c", "echo no such thing >&2; exit 3"]\n')
    const failed = await agents('test', 'bad')
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('no such thing')
    expect(failed.stderr).not.toContain('prompt')
  })

  test.concurrent('that gives its session no id has failed its test', async () => {
    const { agents } = withFake({ on: { 'session/new': [{ answer: {} }] } })
    const failed = await agents('test', 'fake')
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('session/new failed (it gave no session id)'),
    })
  })

  test.concurrent('that wants a login and offers none is logged in by its own command', async () => {
    const { agents } = withFake({ needsLogin: true })
    const refused = await agents('login', 'fake')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Log in with its own command') })
  })

  test.concurrent('whose program is gone is listed with the reason, and so is a version that was never installed', async () => {
    const { agents } = user(
      '[agents.lost]\ncommand = "/opt/nowhere/agent"\n[agents.old]\nregistry = "claude"\nversion = "9.9.9"\n',
    )
    const { stdout } = await agents('ls')
    expect(stdout).toContain('The command /opt/nowhere/agent was not found.')
    expect(stdout).toContain('Type: parley agents add claude@9.9.9')
  })
})
