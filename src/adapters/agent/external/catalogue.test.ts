/** External agents by their names: how each is started, and what is known of it without that. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../../test/fixtures/process/new-directory.ts'
import { systemClock } from '../../clock.ts'
import { AgentCatalogue } from './catalogue.ts'
import { RegistryIndex } from './find/registry-index.ts'
import { InstalledAgents, MANIFEST, PLATFORM } from './install/installed-agents.ts'
import type { AgentOffers, OwnAgent } from './launch.ts'
import { StoredOffers } from './probe/stored-offers.ts'
import { SAFE } from './quirks.ts'

const mine: OwnAgent = { name: 'mine', command: '/bin/sh', args: ['acp'], env: { KEY: 'x' }, passEnv: [], quirks: {} }
const place = { cwd: '/' }
const URL = 'http://127.0.0.1:1/registry.json'

/** A catalogue over a state directory of its own, with a PATH that has these programs. */
function made({
  own = [],
  onPath = [],
}: { readonly own?: readonly OwnAgent[]; readonly onPath?: readonly string[] } = {}) {
  const home = newDirectory()
  const bin = join(home, 'bin')
  const installed = new InstalledAgents(home)
  const { directory } = installed
  for (const folder of [bin, directory]) mkdirSync(folder, { recursive: true })
  for (const name of onPath) writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 })
  const open = () =>
    new AgentCatalogue({
      own: () => own,
      environment: (names) => ({ PATH: bin, NAMES: names.join(' ') }),
      installed,
      registry: new RegistryIndex({ directory, url: URL, clock: systemClock }),
      offers: new StoredOffers(directory),
    })
  /** As if Parley had installed it. */
  const put = (id: string, version: string, { at = 1, isScript = false } = {}): string => {
    const copy = join(directory, id, version, PLATFORM)
    mkdirSync(copy, { recursive: true })
    writeFileSync(join(copy, 'program'), '#!/bin/sh\n', { mode: 0o755 })
    const manifest = { id, version, source: 'npm', from: id, program: 'program', isScript, path: [], at }
    writeFileSync(join(copy, MANIFEST), JSON.stringify(manifest))
    return join(copy, 'program')
  }
  const index = (...ids: readonly string[]): void => {
    const agents = ids.map((id) => ({ id, name: id, version: '1.0.0', description: '', distribution: {} }))
    writeFileSync(join(directory, 'registry.json'), JSON.stringify({ url: URL, at: 0, agents }))
  }
  return { catalogue: open(), open, put, index, bin }
}

const promptKinds = { image: true, audio: false, embeddedContext: false }
const said = { agentName: 'm', version: '1.2.3', protocol: 1, capabilities: { loadSession: true }, promptKinds }
const offers: AgentOffers = { ...said, logins: [], commands: [], needsLogin: false, at: 1 }

describe('the name of an agent', () => {
  test('of the user’s own entry wins over all others', () => {
    const { catalogue } = made({ own: [{ ...mine, name: 'claude' }] })
    expect(catalogue.fullName('claude')).toBe('acp:claude')
    expect(catalogue.fullName('claude-code')).toBe('acp:claude')
  })

  test.each([
    ['codex', 'acp:codex'],
    ['codex-acp', 'acp:codex'],
    ['acp:codex', 'acp:codex'],
    ['claude-acp', 'acp:claude'],
    ['openc', 'acp:opencode'],
    ['new-one', 'acp:new-one'],
    ['odd', 'acp:odd-acp'],
    ['new', 'acp:new-one'],
  ])('%s is %s', (requested, expected) => {
    const { catalogue, index } = made()
    index('new-one', 'odd-acp', 'claude-acp')
    expect(catalogue.fullName(requested)).toBe(expected)
  })

  test('is ambiguous if several agents begin with it', () => {
    const { catalogue } = made()
    expect(catalogue.fullName('c')).toBeUndefined()
    expect(catalogue.candidates('c')).toEqual(['claude', 'codex', 'copilot', 'cursor', 'cline'])
  })

  test('that matches no agent lists all agents', () => {
    const { catalogue } = made({ own: [mine] })
    expect(catalogue.fullName('xyz')).toBeUndefined()
    expect(catalogue.candidates('xyz')).toEqual(expect.arrayContaining(['mine', 'claude', 'iflow']))
  })
})

describe('an entry of the user’s configuration', () => {
  test('is started with its own command line', async () => {
    const { catalogue } = made({ own: [{ ...mine, quirks: { lateMs: 300 }, mcp: 'pass', passEnv: ['MINE_*'] }] })
    const env = { PATH: expect.any(String) as string, NAMES: 'MINE_*', KEY: 'x' }
    const started = { name: 'mine', program: '/bin/sh', args: ['acp'], env, mcp: 'pass', idleMinutes: 10 }
    expect(await catalogue.launch('acp:mine', place)).toEqual({ ...started, quirks: { ...SAFE, lateMs: 300 } })
  })

  test('waits for consent where it needs one', async () => {
    const { catalogue } = made({ own: [{ ...mine, refused: 'nobody agreed' }] })
    await expect(catalogue.launch('acp:mine', place)).rejects.toMatchObject({ code: 'AGENT_NOT_ALLOWED' })
  })

  test('may give another agent an own name and one version', async () => {
    const old = { name: 'old', registry: 'opencode', version: '1.15.0', env: {}, passEnv: [], quirks: {} }
    const { catalogue, put } = made({ own: [old], onPath: ['opencode'] })
    put('opencode', '1.18.33', { at: 2 })
    const program = put('opencode', '1.15.0')
    const launch = await catalogue.launch('acp:old', place)
    expect(launch).toMatchObject({ program, args: ['acp'], version: '1.15.0', quirks: { lateMs: 300 } })
    expect(launch.env).toMatchObject({ OPENCODE_DISABLE_AUTOUPDATE: '1' })
  })
})

describe('the program', () => {
  test('of an agent that speaks ACP itself is the one on PATH, because that has the login', async () => {
    const { catalogue, put, bin } = made({ onPath: ['opencode'] })
    put('opencode', '1.18.33')
    expect(await catalogue.launch('acp:opencode', place)).toMatchObject({ program: join(bin, 'opencode') })
  })

  test('of an adapter is the copy that was installed last', async () => {
    const { catalogue, put } = made({ onPath: ['codex-acp'] })
    put('codex', '2.6.0')
    const program = put('codex', '2.5.0', { at: 2 })
    expect(await catalogue.launch('acp:codex', place)).toMatchObject({ program, version: '2.5.0' })
  })

  test('that is a script is run by a Node that is new enough', async () => {
    const { catalogue, put } = made()
    const program = put('gemini', '0.61.0', { isScript: true })
    const launch = await catalogue.launch('acp:gemini', place)
    expect(launch).toMatchObject({ program: process.execPath, args: [program, '--acp'] })
  })

  test('that no Node can run says what to type', async () => {
    const { catalogue, put } = made({ onPath: ['node'] })
    put('claude', '0.101.0', { isScript: true })
    if (Number(process.versions.node.split('.')[0]) >= 22) return
    await expect(catalogue.launch('acp:claude', place)).rejects.toMatchObject({ code: 'AGENT_NODE_OLD' })
  })

  test('that is not found says what to type', async () => {
    const launch = made().catalogue.launch('acp:claude', place)
    await expect(launch).rejects.toThrow('Type: parley agents add claude')
  })
})

describe('the agent info of an earlier initialize', () => {
  test('is known to the next process, and selects the quirks', async () => {
    const { catalogue, open } = made({ onPath: ['opencode'] })
    const launch = await catalogue.launch('acp:opencode', place)
    await catalogue.remember(launch, { ...offers, agentName: 'OpenCode', version: '1.15.0' })
    const again = open()
    expect(again.offers('acp:opencode')).toMatchObject({ version: '1.15.0' })
    expect(await again.launch('acp:opencode', place)).toMatchObject({ version: '1.15.0', quirks: { lateMs: 300 } })
    expect(again.quirks('acp:opencode', { agentName: 'OpenCode', version: '1.18.33' })).toMatchObject({ lateMs: 0 })
  })

  test('is not used for another command', async () => {
    const own = [{ ...mine }]
    const { catalogue, open } = made({ own })
    await catalogue.remember(await catalogue.launch('acp:mine', place), offers)
    own[0] = { ...mine, command: '/bin/cat' }
    expect((await open().launch('acp:mine', place)).offers).toBeUndefined()
  })
})
