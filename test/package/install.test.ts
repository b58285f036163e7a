/** The package as users get it: packed, installed from a registry with Node and npm alone, used by its command and its exports. */
import { execFile, execFileSync, spawn } from 'node:child_process'
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
import { emitDeclarations } from '../../scripts/declarations.ts'
import { writeManPage } from '../../scripts/man-page.ts'
import { installed } from '../architecture/law.ts'
import { type NpmRegistry, serveModules } from './npm-registry.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const NAME = '@parley-sessions/parley'
const { version, files }: { readonly version: string; readonly files: readonly string[] } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
const npm = realpathSync(pathOf('npm'))
let work = ''
let prefix = ''
let registry: NpmRegistry
/** Nothing but Node and the basic programs: no compiler, no git, no cache of this user, no settings of this project. */
let environment: Record<string, string> = {}

beforeAll(async () => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'package-')))
  prefix = join(work, 'prefix')
  registry = await serveModules(root)
  environment = cleanAccount(registry.url)
  const [packed] = JSON.parse(
    execFileSync(process.execPath, [npm, 'pack', '--ignore-scripts', '--json', '--pack-destination', work], {
      cwd: copyToPack(),
      encoding: 'utf8',
    }),
  ) as readonly { readonly filename: string }[]
  await run(process.execPath, [npm, 'install', '--global', '--prefix', prefix, join(work, packed?.filename ?? '')])
})

afterAll(async () => {
  if (existsSync(join(prefix, 'bin/parley'))) await run(join(prefix, 'bin/parley'), ['stop'])
  registry.close()
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

/** What the manifest names, with types of its own: other tests write those of `dist` too. */
function copyToPack(): string {
  const copy = join(work, 'source')
  for (const name of [...files, 'package.json', 'README.md', 'LICENSE'])
    if (existsSync(join(root, name))) cpSync(join(root, name), join(copy, name), { recursive: true })
  removeOldChunks(join(copy, 'dist'))
  emitDeclarations(join(copy, 'dist/types'))
  writeManPage(join(copy, 'man/parley.1'), version)
  return copy
}

/** Tests leave the chunks of earlier builds beside the new ones; a build for a package begins with an empty directory. */
function removeOldChunks(dist: string): void {
  const reached = new Set<string>()
  const visit = (file: string): void => {
    for (const [name] of readFileSync(file, 'utf8').matchAll(/[\w.-]+-[\w-]{8}\.mjs/gu)) {
      const chunk = join(dist, 'chunks', name)
      if (reached.has(chunk) || !existsSync(chunk)) continue
      reached.add(chunk)
      visit(chunk)
    }
  }
  for (const name of readdirSync(dist)) if (name.endsWith('.mjs')) visit(join(dist, name))
  for (const name of readdirSync(join(dist, 'chunks')))
    if (!reached.has(join(dist, 'chunks', name))) rmSync(join(dist, 'chunks', name))
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
    expect([...registry.installed]).toEqual(expect.arrayContaining([...installed]))
    const { packages }: { readonly packages: Readonly<Record<string, { readonly dev?: boolean }>> } = JSON.parse(
      readFileSync(join(root, 'package-lock.json'), 'utf8'),
    )
    expect(registry.installed.filter((name) => packages[`node_modules/${name}`]?.dev === true)).toEqual([])
  })

  test('says its version, its commit, its Node and the format of its journal', async () => {
    expect(await parley('--version')).toBe(`${version}\n`)
    expect(JSON.parse(await parley('--version', '--json'))).toEqual({
      version,
      commit: expect.stringMatching(/^[0-9a-f]{40}$/u),
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
    expect(bytesBelow(installedHere())).toBeLessThan(25_000_000)
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

  test('compile against what is published', async () => {
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', directory])
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
