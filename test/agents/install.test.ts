/** Agents are installed whole or not at all, in exactly the version that was asked for, and nothing of them runs unasked. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RegistryEntry } from '../../src/adapters/agent/external/find/registry-index.ts'
import { install, uninstall } from '../../src/adapters/agent/external/install/install.ts'
import { InstalledAgents } from '../../src/adapters/agent/external/install/installed-agents.ts'
import { type InstallProgress, ProgressFile } from '../../src/adapters/agent/external/install/progress.ts'
import {
  type ArchiveSource,
  type NpmSource,
  type Wanted,
  wantedLine,
  wantedOfRegistry,
} from '../../src/adapters/agent/external/install/wanted.ts'
import { venvProgram } from '../../src/adapters/agent/external/install/uv-install.ts'
import { systemClock } from '../../src/adapters/clock.ts'
import { openProcesses } from '../../src/adapters/process/open-processes.ts'
import { loadConfig } from '../../src/config/load.ts'
import { chooseWanted } from '../../src/server/agents/add-agent.ts'
import { openAgentTools } from '../../src/server/compose/agent-catalogue.ts'
import { LoopbackRegistry, tarGz } from './loopback-registry.ts'

const top = mkdtempSync(join(tmpdir(), 'parley-install-'))
const processes = openProcesses({
  boot: { home: 'test', id: systemClock.id() },
  environment: process.env,
  clock: systemClock,
})
let registry: LoopbackRegistry
let places = 0

beforeAll(async () => {
  registry = await LoopbackRegistry.open()
})
afterAll(async () => {
  await processes.close()
  await registry.close()
  rmSync(top, { recursive: true, force: true })
})

function made(signal = new AbortController().signal) {
  const home = join(top, String((places += 1)))
  mkdirSync(home)
  const installed = new InstalledAgents(home)
  const told: InstallProgress[] = []
  const file = new ProgressFile(join(installed.directory, 'agent'))
  const written: unknown[] = []
  const npm = {
    PATH: process.env['PATH'] ?? '',
    npm_config_registry: registry.url,
    npm_config_cache: join(home, 'cache'),
    npm_config_userconfig: join(home, 'npmrc'),
  }
  const tell = (progress: InstallProgress): void => {
    told.push(progress)
    written.push(file.read())
  }
  const installing = { installed, processes, clock: systemClock, installerEnvironments: { npm, uv: {} }, tell, signal }
  return { home, installed, told, file, written, installing, add: (wanted: Wanted) => install(wanted, installing) }
}

/** A tar of `bin/agent` and `lib/y`, each with its last letter. */
const PACKED_WITH_BZIP2 =
  'QlpoOTFBWSZTWeesQ1MAAJ97kMmAAEJAAPeAAIhypZ5gBAAACCAAchKkGgMjI0GjI9QFUinoQaGnqD1BoaMz9LTcuUgNWk74gRku' +
  'ZJHF8YtrA1yRBMiUR78clEIWteqkRRVJi4OyydsF1aQ43Jcy7nC6ycQ8C0gaiFYRQQ+0oaKUH4u5IpwoSHPWIamA'

const npm = (name: string, source: Partial<NpmSource> = {}): Wanted => ({
  id: 'agent',
  version: '1.0.0',
  source: { kind: 'npm', package: name, scripts: [], with: [], node: '18.0.0', ...source },
})

const archive = (url: string, source: Partial<ArchiveSource> = {}): Wanted => ({
  id: 'agent',
  version: '1.0.0',
  source: { kind: 'archive', url, command: './bin/agent', ...source },
})

const script = '#!/usr/bin/env node\nprocess.stdout.write("hello")\n'

/** A uv that writes down what it was called with; its packages are those of the registry, each with one program. */
const UV = `#!/usr/bin/env node
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const args = process.argv.slice(2)
appendFileSync(process.env.UV_LOG, args.join(' ') + '\\n')
if (args[0] === 'venv') mkdirSync(join(args.at(-1), 'bin'), { recursive: true })
else void install(args[args.indexOf('--python') + 1], args.at(-1))
async function install(venv, spec) {
  const [name, version] = spec.split('==')
  const response = await fetch(process.env.UV_INDEX_URL + '/' + name + '-' + version)
  if (!response.ok) {
    console.error('  x No solution found: there is no version of ' + spec)
    process.exit(1)
  }
  const info = join(venv, 'lib', 'python3.12', 'site-packages', name.replaceAll('-', '_') + '-' + version + '.dist-info')
  mkdirSync(info, { recursive: true })
  const program = await response.text()
  writeFileSync(join(venv, 'bin', program), '#!/bin/sh\\necho hello', { mode: 0o755 })
  writeFileSync(join(info, 'entry_points.txt'), '[console_scripts]\\n' + program + ' = x:main\\n\\n[other]\\ny = z\\n')
}
`

const entry = (id: string, distribution: RegistryEntry['distribution'], version = '1.2.3'): RegistryEntry => ({
  id,
  name: id,
  version,
  description: '',
  distribution,
})

describe('from uv', () => {
  const uvx = (spec: string, version?: string): Wanted =>
    wantedOfRegistry(entry('snake', { uvx: { package: spec, args: ['acp'] } }), version)

  function withUv() {
    const place = made()
    const bin = join(place.home, 'bin')
    const log = join(place.home, 'uv.log')
    mkdirSync(bin)
    writeFileSync(join(bin, 'uv'), UV, { mode: 0o755 })
    const uv = {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      UV_INDEX_URL: `${registry.url}/simple`,
      UV_LOG: log,
    }
    const add = (wanted: Wanted) => install(wanted, { ...place.installing, installerEnvironments: { npm: {}, uv } })
    return { ...place, add, calls: () => readFileSync(log, 'utf8').trim().split('\n') }
  }

  test.each(['snake-acp', 'serpent'])(
    'an agent is installed in its exact version; its program is %s',
    async (program) => {
      registry.serve('/simple/snake-acp-1.2.3', Buffer.from(program))
      const { add, calls, told, installed } = withUv()
      const copy = await add(uvx('snake-acp==1.2.3'))
      expect(copy).toMatchObject({ id: 'snake', version: '1.2.3', source: 'uv', from: 'snake-acp', args: ['acp'] })
      expect(copy).toMatchObject({ program: join('venv', 'bin', program), isScript: false })
      expect(existsSync(join(copy.directory, copy.program))).toBe(true)
      expect(installed.choose('snake')).toEqual(copy)
      expect(told).toEqual([{ step: 'uv', what: 'snake-acp==1.2.3' }])
      const [venv, pip] = calls()
      expect(venv).toMatch(/^venv --quiet --relocatable --no-python-downloads \/.*\/venv$/u)
      expect(pip).toMatch(/^pip install --quiet --no-build --python \/.*\/venv snake-acp==1\.2\.3$/u)
    },
  )

  test('without uv, and for a version that does not exist, the reason is said and nothing is left', async () => {
    const { installing, add, installed } = withUv()
    const installerEnvironments = { npm: {}, uv: { PATH: top } }
    await expect(install(uvx('snake-acp==1.2.3'), { ...installing, installerEnvironments })).rejects.toMatchObject({
      code: 'AGENT_INSTALL',
      message: expect.stringContaining('uv, which installs it, is not on PATH') as string,
    })
    await expect(add(uvx('snake-acp@9.9.9'))).rejects.toMatchObject({
      code: 'AGENT_INSTALL',
      message: expect.stringContaining(
        'uv ended with 1. x No solution found: there is no version of snake-acp==9.9.9',
      ) as string,
    })
    expect(installed.list()).toEqual([])
  })

  test.each(['snake-acp', 'snake-acp==latest', 'snake-acp>=1', 'https://example.com/x.whl', '-r==1'])(
    '%s is no exact version of a package',
    (spec) => expect(() => uvx(spec)).toThrow('names no exact version'),
  )

  test.each(['--registry=https://example.com@1.2.3', '-g@1.2.3', '@x/-g@1.2.3', '../x@1.2.3', 'x y@1.2.3'])(
    '%s names no package of npm',
    (spec) =>
      expect(() => wantedOfRegistry(entry('snake', { npx: { package: spec } }), undefined)).toThrow('names no exact'),
  )

  test('what the user agrees to says that nothing is built', () =>
    expect(wantedLine(uvx('snake-acp==1.2.3'))).toBe('uv pip install --no-build snake-acp==1.2.3'))

  test('a venv of Windows has its programs elsewhere', () =>
    expect([venvProgram('x', 'win32'), venvProgram('x', 'linux')]).toEqual([
      join('Scripts', 'x.exe'),
      join('bin', 'x'),
    ]))
})

describe('from npm', () => {
  test('an agent is installed with its program, its helpers and its sum, and its scripts do not run', async () => {
    const ran = join(top, 'ran')
    await registry.publish({
      name: '@test/agent',
      version: '1.0.0',
      files: { 'main.js': script },
      fields: { bin: { 'test-agent': 'main.js' }, scripts: { postinstall: `touch ${ran}` } },
    })
    await registry.publish({
      name: 'helper',
      version: '2.0.0',
      files: { 'main.js': script },
      fields: { bin: { helper: 'main.js' } },
    })
    const { add, installed, told, file, written } = made()
    const copy = await add(npm('@test/agent', { with: ['helper@2.0.0'] }))
    expect(copy).toMatchObject({ isScript: true, path: ['node_modules/.bin'], source: 'npm', from: '@test/agent' })
    expect(copy.sum).toMatch(/^sha512-/u)
    expect(readFileSync(join(copy.directory, copy.program), 'utf8')).toBe(script)
    expect(existsSync(join(copy.directory, 'node_modules/.bin/helper'))).toBe(true)
    expect(existsSync(ran)).toBe(false)
    expect(installed.choose('agent')).toEqual(copy)
    expect(told).toEqual([{ step: 'npm', what: '@test/agent@1.0.0 helper@2.0.0' }])
    // A server shows it to its clients from this file.
    expect([written, file.read()]).toEqual([told, undefined])
  })

  test('only the install scripts that the row names run', async () => {
    const [wanted, other] = [join(top, 'wanted'), join(top, 'other')]
    await registry.publish({
      name: 'other',
      version: '1.0.0',
      files: {},
      fields: { scripts: { postinstall: `touch ${other}` } },
    })
    await registry.publish({
      name: 'scripted',
      version: '1.0.0',
      files: { 'main.js': script },
      fields: { bin: 'main.js', scripts: { postinstall: `touch ${wanted}` }, dependencies: { other: '1.0.0' } },
    })
    await made().add(npm('scripted', { scripts: ['scripted'] }))
    expect([existsSync(wanted), existsSync(other)]).toEqual([true, false])
  })

  test('a version that is not there is refused with the words of npm', async () => {
    await registry.publish({
      name: 'moved',
      version: '0.9.0',
      files: { 'main.js': script },
      fields: { bin: 'main.js' },
    })
    const { add, installed } = made()
    const wrong = { ...npm('moved'), version: '1.0.0' }
    await expect(add(wrong)).rejects.toThrow(/was not installed: npm ended with 1\..*moved@1\.0\.0/su)
    expect(installed.list()).toEqual([])
    expect(readdirSync(join(installed.directory, 'agent'))).toEqual([])
  })

  test('another version than asked for is refused', async () => {
    const older = JSON.stringify({ name: 'other-version', version: '0.9.0', bin: 'main.js' })
    await registry.publish({
      name: 'other-version',
      version: '1.0.0',
      files: { 'package.json': older, 'main.js': script },
      fields: { bin: 'main.js' },
    })
    await expect(made().add(npm('other-version'))).rejects.toThrow('npm installed other-version 0.9.0 instead of 1.0.0')
  })

  test('a package with several programs, none of them named, is refused with their names', async () => {
    await registry.publish({
      name: 'many',
      version: '1.0.0',
      files: { 'a.js': script, 'b.js': script },
      fields: { bin: { a: 'a.js', b: 'b.js' } },
    })
    await expect(made().add(npm('many'))).rejects.toThrow('many has no program many, but a, b')
  })

  test('a program outside of its package is refused', async () => {
    await registry.publish({
      name: 'out',
      version: '1.0.0',
      files: {},
      fields: { bin: { out: '../../../../../bin/sh' } },
    })
    await expect(made().add(npm('out'))).rejects.toThrow(/was not installed/u)
  })

  test('two at once make one copy, and adding a version again makes it the chosen one', async () => {
    await registry.publish({
      name: 'twice',
      version: '1.0.0',
      files: { 'main.js': script },
      fields: { bin: 'main.js' },
    })
    await registry.publish({
      name: 'twice',
      version: '2.0.0',
      files: { 'main.js': script },
      fields: { bin: 'main.js' },
    })
    const { add, installed, told } = made()
    const [first, second] = await Promise.all([add(npm('twice')), add(npm('twice'))])
    expect(first.directory).toBe(second.directory)
    expect(told.length).toBe(1)
    await add({ ...npm('twice'), version: '2.0.0' })
    expect(installed.choose('agent')?.version).toBe('2.0.0')
    await add(npm('twice'))
    expect(installed.choose('agent')?.version).toBe('1.0.0')
    expect(installed.versions('agent').map(({ version }) => version)).toEqual(['2.0.0', '1.0.0'])
  })

  test('a Node that is too old is said before anything is downloaded', async () => {
    await expect(made().add(npm('twice', { node: '999.0.0' }))).rejects.toMatchObject({ code: 'AGENT_NODE_OLD' })
  })

  test('what a killed installation left is removed by the next', async () => {
    const { add, installed } = made()
    const left = join(installed.directory, 'agent', '.draft-old')
    mkdirSync(left, { recursive: true })
    writeFileSync(join(left, 'half'), '')
    expect(installed.list()).toEqual([])
    await add(npm('twice'))
    expect(existsSync(left)).toBe(false)
  })
})

describe('from an archive', () => {
  test.each([
    ['tar.gz', () => tarGz({ 'bin/agent': 'x', 'lib/y': 'y' })],
    // Packed by bzip2 itself: Node cannot do that.
    ['tar.bz2', async () => Buffer.from(PACKED_WITH_BZIP2, 'base64')],
    ['zip', async () => Buffer.from(zipSync({ 'bin/agent': Buffer.from('x'), 'lib/y': Buffer.from('y') }))],
  ])('%s: its program can be run, and its sum is kept', async (kind, content) => {
    const bytes = await content()
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const { add, told } = made()
    const copy = await add({ ...archive(registry.serve(`/a.${kind}`, bytes), { sha256 }), args: ['acp'] })
    expect(copy).toMatchObject({ program: 'bin/agent', isScript: false, args: ['acp'], sum: sha256 })
    expect(statSync(join(copy.directory, 'bin/agent')).mode & 0o777).toBe(0o755)
    expect(readFileSync(join(copy.directory, 'lib/y'), 'utf8')).toBe('y')
    expect(readdirSync(copy.directory)).not.toContain('.archive')
    expect(told).toEqual([{ step: 'download', bytes: bytes.length, total: bytes.length }, { step: 'unpack' }])
  })

  test('a bare file is the program itself', async () => {
    const copy = await made().add(archive(registry.serve('/agent', Buffer.from('x'))))
    expect(readFileSync(join(copy.directory, 'bin/agent'), 'utf8')).toBe('x')
  })

  test('another sum than announced is refused, and nothing is left', async () => {
    const { add, installed } = made()
    const url = registry.serve('/bad.tar.gz', await tarGz({ 'bin/agent': 'x' }))
    await expect(add(archive(url, { sha256: 'a'.repeat(64) }))).rejects.toThrow('nothing of it was unpacked')
    expect(readdirSync(join(installed.directory, 'agent'))).toEqual([])
  })

  test.each([
    ['a name with ..', [{ header: { name: '../escaped', size: 1 }, body: 'x' }]],
    ['an absolute name', [{ header: { name: `${top}/escaped`, size: 1 }, body: 'x' }]],
    [
      'a link out of it, and a file through that link',
      [
        { header: { name: 'out', size: 0, type: 'symlink' as const, linkname: top } },
        { header: { name: 'out/escaped', size: 1 }, body: 'x' },
      ],
    ],
    [
      'a hard link out of it',
      [{ header: { name: 'escaped', size: 0, type: 'link' as const, linkname: '/etc/passwd' } }],
    ],
  ])('an archive with %s writes nothing outside of its folder', async (_what, entries) => {
    const good = { header: { name: 'bin/agent', size: 1 }, body: 'x' }
    const { add, installed } = made()
    const url = registry.serve('/evil.tar.gz', gzipSync(await packTar([...entries, good])))
    const copy = await add(archive(url)).catch(() => undefined)
    const places = [top, join(installed.directory, 'agent'), installed.directory, join(installed.directory, '..')]
    expect(places.filter((place) => existsSync(join(place, 'escaped')))).toEqual([])
    if (copy !== undefined) expect(existsSync(join(copy.directory, 'escaped'))).toBe(false)
  })

  test('a zip with a name that leaves it is refused', async () => {
    const url = registry.serve('/evil.zip', Buffer.from(zipSync({ '../escaped': Buffer.from('x') })))
    await expect(made().add(archive(url))).rejects.toThrow('outside itself')
  })

  test('what is too large, packed otherwise, not there, or not encrypted is refused', async () => {
    const { installing, add } = made()
    const large = { ...archive(registry.serve('/l.tar.gz', await tarGz({ 'bin/agent': 'x'.repeat(100_000) }))) }
    await expect(install(large, { ...installing, maxBytes: 50_000 })).rejects.toThrow('unpacks to more than')
    await expect(add(archive(registry.serve('/a.tar.xz', Buffer.from('x'))))).rejects.toThrow(
      'install the agent yourself',
    )
    await expect(add(archive(`${registry.url}/nowhere.zip`))).rejects.toThrow('answered 404')
    await expect(add(archive('http://example.com/a.zip'))).rejects.toThrow('is not an https address')
    await expect(add(archive(registry.url, { command: '../agent' }))).rejects.toThrow('outside the archive')
    const empty = registry.serve('/e.tar.gz', await tarGz({ other: 'x' }))
    await expect(add(archive(empty))).rejects.toThrow('there is no bin/agent in the archive')
  })
})

describe('chosen by a user', () => {
  async function tools(environment: Readonly<Record<string, string>> = {}) {
    const home = join(top, String((places += 1)))
    mkdirSync(home)
    const all = { ...environment, PATH: '/nowhere', XDG_CONFIG_HOME: home, PARLEY_AGENTS_REGISTRY: registry.indexUrl }
    const opened = openAgentTools({ ...(await loadConfig({}, all, home)), home })
    const choose = async (text: string): Promise<Wanted> => {
      try {
        return (await chooseWanted(text, opened, new AbortController().signal)).wanted
      } finally {
        await opened.close()
      }
    }
    return { opened, choose }
  }

  const binary = (url: string): RegistryEntry['distribution'] => {
    const platforms = ['linux', 'darwin', 'windows'].flatMap((system) => [`${system}-x86_64`, `${system}-aarch64`])
    return { binary: Object.fromEntries(platforms.map((key) => [key, { archive: url, cmd: './bin/agent' }])) }
  }

  test.each(['../claude/9.9.9', '/claude/9.9.9', '..', '9.9.9/x', '9\\..\\x', '9.9.9\n', ''])(
    'an archive whose version is %j is refused, since that is a part of a path',
    async (version) => {
      registry.list([entry('x', binary(`${registry.url}/agent`), version)])
      const { choose } = await tools()
      await expect(choose('x')).rejects.toMatchObject({ code: 'AGENT_INSTALL' })
    },
  )

  test('a copy counts only as the agent and the version of its folders', async () => {
    const { add, installed } = made()
    const url = registry.serve('/agent', Buffer.from('x'))
    await add({ ...archive(url), id: 'x', version: '../claude/9.9.9' })
    await add({ ...archive(url), id: 'x', version: '../x/1.0.0' })
    expect(readdirSync(join(installed.directory, 'claude'))).toEqual(['9.9.9'])
    expect([installed.choose('claude'), installed.choose('x'), installed.list()]).toEqual([undefined, undefined, []])
  })

  test('a version is one of the source that has the agent', async () => {
    registry.list([
      entry('snake', { uvx: { package: 'snake-acp==1.2.3' } }),
      entry('packed', { npx: { package: 'packed@1.2.3' } }),
      entry('zipped', binary(`${registry.url}/agent`), '1.2'),
    ])
    const chosen = async (text: string) => (await tools()).choose(text)
    expect(await chosen('snake@1.2')).toMatchObject({ version: '1.2', source: { kind: 'uv' } })
    expect(await chosen('zipped@1.2')).toMatchObject({ version: '1.2', source: { kind: 'archive' } })
    for (const text of ['snake@latest', 'packed@1.2', 'claude@1.2', 'node@22'])
      await expect(chosen(text)).rejects.toMatchObject({ code: 'AGENT_VERSION' })
  })

  test('npm and uv each get their own settings, and no password', async () => {
    const settings = { npm_config_registry: 'https://npm.example', UV_DEFAULT_INDEX: 'https://uv.example' }
    const secrets = { UV_INDEX_OURS_PASSWORD: 'sentinel', UV_PUBLISH_TOKEN: 'sentinel', npm_config__auth: 'sentinel' }
    const { opened } = await tools({ ...settings, ...secrets })
    await opened.close()
    const { npm, uv } = opened.installerEnvironments
    expect([npm, uv]).toEqual([
      expect.objectContaining({ npm_config_registry: 'https://npm.example', PATH: '/nowhere' }),
      expect.objectContaining({ UV_DEFAULT_INDEX: 'https://uv.example', PATH: '/nowhere' }),
    ])
    expect(Object.keys(npm).filter((name) => name.startsWith('UV_'))).toEqual([])
    expect(Object.keys(uv).filter((name) => name.startsWith('npm_'))).toEqual([])
    expect(JSON.stringify([npm, uv])).not.toContain('sentinel')
  })
})

test('an agent is removed by its version, or whole', async () => {
  const { add, installed, installing } = made()
  await add(archive(registry.serve('/agent', Buffer.from('x'))))
  await add({ ...archive(registry.serve('/agent', Buffer.from('x'))), version: '2.0.0' })
  expect(await uninstall('agent', '3.0.0', installing)).toBe(false)
  expect(await uninstall('agent', '1.0.0', installing)).toBe(true)
  expect(installed.list().map(({ version }) => version)).toEqual(['2.0.0'])
  expect(await uninstall('agent', undefined, installing)).toBe(true)
  expect(installed.list()).toEqual([])
})
