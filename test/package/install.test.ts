/** The package as users get it: built without a word, packed, installed from a registry with Node and npm alone, used by its command and its exports. */
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { installed } from '../architecture/law.ts'
import { LoopbackRegistry } from '../agents/loopback-registry.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const NAME = '@parley-sessions/parley'
const { version, files }: { readonly version: string; readonly files: readonly string[] } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
const npm = realpathSync(pathOf('npm'))
/** What the build makes of what the package has. */
const BUILT = new Set(['dist', 'man'])
const COMMIT = '0123456789abcdef0123456789abcdef01234567'
let work = ''
let prefix = ''
let registry: LoopbackRegistry
/** Nothing but Node and the basic programs: no compiler, no git, no cache of this user, no settings of this project. */
let environment: Record<string, string> = {}

beforeAll(async () => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'package-')))
  prefix = join(work, 'prefix')
  registry = await LoopbackRegistry.open()
  registry.publishInstalled(root)
  environment = cleanAccount(registry.url)
  const [packed] = JSON.parse(
    execFileSync(process.execPath, [npm, 'pack', '--ignore-scripts', '--json', '--pack-destination', work], {
      cwd: builtCopy(),
      encoding: 'utf8',
    }),
  ) as readonly { readonly filename: string }[]
  await run(process.execPath, [npm, 'install', '--global', '--prefix', prefix, join(work, packed?.filename ?? '')])
})

afterAll(async () => {
  if (existsSync(join(prefix, 'bin/parley'))) await run(join(prefix, 'bin/parley'), ['stop'])
  await registry.close()
  rmSync(work, { recursive: true, force: true })
})

function pathOf(program: string): string {
  return execFileSync('which', [program], { encoding: 'utf8' }).trim()
}

function cleanAccount(registryUrl: string): Record<string, string> {
  for (const name of ['bin', 'home']) mkdirSync(join(work, name))
  for (const name of ['sh', 'env', 'dirname', 'uname', 'grep', 'cat', 'sleep'])
    symlinkSync(pathOf(name), join(work, 'bin', name))
  symlinkSync(process.execPath, join(work, 'bin/node'))
  return {
    PATH: join(work, 'bin'),
    HOME: join(work, 'home'),
    PARLEY_HOME: join(work, 'state'),
    npm_config_registry: registryUrl,
    npm_config_update_notifier: 'false',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  }
}

/** A clone after `npm ci`, which ends with the build. */
function builtCopy(): string {
  const copy = join(work, 'source')
  const sources = ['src', 'scripts', 'rolldown.config.ts', 'tsconfig.base.json', 'package.json', 'README.md', 'LICENSE']
  for (const name of [...sources, ...files.filter((name) => !BUILT.has(name))])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const env = { ...process.env, PARLEY_COMMIT: COMMIT }
  const { status, stdout, stderr } = spawnSync(process.execPath, [npm, 'run', '--silent', 'build'], {
    cwd: copy,
    encoding: 'utf8',
    env,
  })
  // What npm says of the settings of the user who runs this is theirs.
  const said = (stdout + stderr).split('\n').filter((line) => line !== '' && !line.startsWith('npm warn'))
  expect({ status, said }).toEqual({ status: 0, said: [] })
  return copy
}

/** Its standard output. Not the synchronous way, for the registry is in this process. */
function run(command: string, args: readonly string[], cwd = work): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env: environment, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`))
    })
  })
}

const parley = (...args: readonly string[]) => run(join(prefix, 'bin/parley'), args)
const installedHere = () => join(prefix, 'lib/node_modules', NAME)

function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => statSync(join(directory, path)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0)
}

describe('the package, installed with Node and npm alone', () => {
  test('brings the native packages, what they need, and nothing else', () => {
    expect(registry.fetched).toEqual(expect.arrayContaining([...installed]))
    const { packages }: { readonly packages: Readonly<Record<string, { readonly dev?: boolean }>> } = JSON.parse(
      readFileSync(join(root, 'package-lock.json'), 'utf8'),
    )
    expect(registry.fetched.filter((name) => packages[`node_modules/${name}`]?.dev === true)).toEqual([])
  })

  test('says its version, its commit, its Node and the format of its journal', async () => {
    expect(await parley('--version')).toBe(`${version}\n`)
    expect(JSON.parse(await parley('--version', '--json'))).toEqual({
      version,
      commit: COMMIT,
      node: process.version,
      journalFormat: 1,
    })
  })

  test('answers a prompt and keeps the session', async () => {
    expect(await parley('run', '--agent', 'guide', 'What is a session?')).not.toBe('')
    expect((await parley('ls', '--json')).trim().split('\n')).toHaveLength(1)
  })

  test('stays within its size, without what SQLite brings for other systems', () => {
    const sqlite = join(installedHere(), 'node_modules/@photostructure/sqlite')
    expect(bytesBelow(installedHere())).toBeLessThan(22_000_000)
    expect(readdirSync(join(sqlite, 'prebuilds'))).toEqual([`${process.platform}-${process.arch}`])
  })

  test('brings its man page', () => {
    expect(readFileSync(join(installedHere(), 'man/parley.1'), 'utf8')).toContain('.SS parley run <prompt>')
  })

  test('builds nothing where its tarball is unpacked and installed', async () => {
    const unpacked = join(work, 'unpacked')
    cpSync(installedHere(), unpacked, { recursive: true })
    await run(process.execPath, [npm, 'run', 'prepare'], unpacked)
  })
})

/** A program of somebody else's for browsers. */
const PROGRAM = `import { type ClientDelegate, type ClientTransport, connect, isClientError } from '@parley-sessions/parley/client'

const delegate: ClientDelegate = {
  updated: ({ sessionId, update }) => console.log(sessionId, update.sessionUpdate),
  ask: async ({ options }) => options.find(({ kind }) => kind === 'allow_once')?.optionId ?? null,
}

export async function ask(dial: () => Promise<ClientTransport>, text: string): Promise<string> {
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  const client = await connect({ dial, pause, newId: () => crypto.randomUUID() }, delegate, {
    info: { name: 'mine', title: 'Mine', version: '1' },
  })
  try {
    return (await client.prompt(await client.newSession('/'), text)).stopReason
  } catch (error) {
    return isClientError(error, 'PEER_REFUSED') ? error.details.code : 'lost'
  } finally {
    client.close()
  }
}
`

describe('the examples', () => {
  let directory = ''

  beforeAll(() => {
    directory = join(work, 'examples')
    mkdirSync(join(directory, 'node_modules/@parley-sessions'), { recursive: true })
    symlinkSync(installedHere(), join(directory, 'node_modules', NAME))
    symlinkSync(join(root, 'node_modules/@types'), join(directory, 'node_modules/@types'))
    cpSync(join(root, 'examples/embed'), directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }))
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2022',
          strict: true,
          skipLibCheck: true,
          lib: ['ES2023', 'ESNext.Disposable', 'DOM', 'DOM.Iterable'],
          types: ['node'],
        },
        include: ['*.ts'],
      }),
    )
  })

  const compiler = join(root, 'node_modules/typescript/bin/tsc')

  test('compile against what is published', async () => {
    await run(process.execPath, [compiler, '-p', directory])
  })

  test('compile for browsers, with no types of Node; what is no member of the client does not', async () => {
    const consumer = join(directory, 'consumer')
    mkdirSync(consumer)
    writeFileSync(join(consumer, 'right.ts'), PROGRAM)
    writeFileSync(join(consumer, 'wrong.ts'), PROGRAM.replace('client.newSession', 'client.noSuchMethod'))
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      lib: ['ES2023', 'DOM'],
      types: [],
    }
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const said = await run(process.execPath, [compiler, '-p', consumer], consumer).catch(String)
    expect(said.match(/^.*error TS.*$/gmu)).toEqual([
      expect.stringMatching(/wrong\.ts.*Property 'noSuchMethod' does not exist/u),
    ])
  })

  test('server.ts: a server inside another program', async () => {
    const said = await run(process.execPath, ['server.js', join(work, 'embedded'), 'What is a session?'], directory)
    expect(said).toMatch(/\nend_turn\n$/u)
  })

  test('browser.ts: the client in a page', async () => {
    const { token } = JSON.parse(await parley('token', 'add', 'page', '--role', 'admin', '--json')) as {
      readonly token: string
    }
    await parley('stop')
    const server = spawn(join(prefix, 'bin/parley'), ['serve', '--listen', '0'], { env: environment, cwd: work })
    try {
      const said = await new Promise<string>((resolve) => server.stdout.once('data', (bytes) => resolve(String(bytes))))
      const [, port] = /127\.0\.0\.1:(\d+)/u.exec(said) ?? []
      const { output } = await build({
        input: join(directory, 'browser.js'),
        platform: 'browser',
        write: false,
        logLevel: 'silent',
        output: { format: 'iife', name: 'example' },
      })
      const page = createContext({ WebSocket, TextDecoder, AbortController, setTimeout, clearTimeout, crypto })
      runInContext(output[0].code, page)
      const place = JSON.stringify({ url: `ws://127.0.0.1:${port}/acp`, token, cwd: work })
      const question = `example.ask(${place}, 'What is a session?')`
      expect(await runInContext(question, page)).not.toBe('')
    } finally {
      const gone = new Promise((resolve) => server.once('close', resolve))
      server.kill()
      await gone
    }
  })
})
