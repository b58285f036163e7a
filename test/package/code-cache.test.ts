/** What a bundle does never depends on the code that was stored of it. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, expect, test } from 'vitest'

const loader = fileURLToPath(new URL('../../bin/code-cache.cjs', import.meta.url))
const work = realpathSync(mkdtempSync(join(tmpdir(), 'code-cache-')))
let packaged = ''

beforeEach(() => {
  packaged = mkdtempSync(join(work, 'package-'))
  for (const name of ['bin', 'dist/chunks']) mkdirSync(join(packaged, name), { recursive: true })
  cpSync(loader, join(packaged, 'bin/code-cache.cjs'))
  writeFileSync(
    join(packaged, 'dist/main.cjs'),
    `const { load, storeAtExit } = require('../bin/code-cache.cjs')
storeAtExit()
console.log(load(require('node:path').join(__dirname, 'chunks/main-00000000.cjs')).says())`,
  )
  says('one')
})

afterAll(() => rmSync(work, { recursive: true, force: true }))

function says(word: string): void {
  writeFileSync(
    join(packaged, 'dist/chunks/main-00000000.cjs'),
    `(function (exports) { exports.says = () => '${word}' })`,
  )
}

function run(...flags: readonly string[]): string {
  return execFileSync(process.execPath, [...flags, join(packaged, 'dist/main.cjs')], { encoding: 'utf8' }).trim()
}

function stored(): readonly string[] {
  return readdirSync(join(packaged, 'cache'), { recursive: true, encoding: 'utf8' })
}

test('it is stored by the first process that ends, and once', () => {
  expect(run()).toBe('one')
  const first = stored()
  expect(first).toHaveLength(2)
  expect(run()).toBe('one')
  expect(stored()).toEqual(first)
})

test('a bundle that was edited is compiled again, although it is as long as before', () => {
  run()
  says('two')
  expect(run()).toBe('two')
})

test('V8 with other flags stores its own', () => {
  run()
  expect(run('--no-opt')).toBe('one')
  expect(stored()).toHaveLength(4)
})

test('a bundle that could not be loaded is loaded by the next attempt', () => {
  const bundle = join(packaged, 'dist/chunks/main-00000000.cjs')
  const program = `
    const { load } = require(${JSON.stringify(join(packaged, 'bin/code-cache.cjs'))})
    const { renameSync } = require('node:fs')
    const bundle = ${JSON.stringify(bundle)}
    renameSync(bundle, bundle + '~')
    try { load(bundle) } catch (error) { console.log(error.code) }
    renameSync(bundle + '~', bundle)
    console.log(load(bundle).says())`
  expect(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' })).toBe('ENOENT\none\n')
})

test('only its owner may write what is stored, whatever the mask is', () => {
  const mask = process.umask(0)
  try {
    run()
  } finally {
    process.umask(mask)
  }
  const files = stored().map((name) => statSync(join(packaged, 'cache', name)))
  expect(files.map(({ mode }) => mode & 0o022)).toEqual([0, 0])
})

test('where nothing can be stored, nothing is missing', () => {
  writeFileSync(join(packaged, 'cache'), 'no directory')
  expect(run()).toBe('one')
})

const program = fileURLToPath(new URL('../../bin/parley.mjs', import.meta.url))

/** Loaded before all else: says which stored code V8 did not take back. */
const TELLING = `const vm = require('node:vm')
const { Script } = vm
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options)
    if (this.cachedDataRejected) console.error('rejected', options.filename)
  }
}`

/** The stderr of a server that has started and stopped. */
async function served(): Promise<string> {
  const home = mkdtempSync(join(work, 'home-'))
  const telling = join(home, 'telling.cjs')
  writeFileSync(telling, TELLING)
  const env = { PATH: process.env['PATH'], HOME: home, PARLEY_HOME: home, XDG_CONFIG_HOME: home }
  const server = spawn(process.execPath, ['--require', telling, program, 'serve'], { env })
  let errors = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const closed = once(server, 'close')
  await once(server.stdout, 'data')
  server.kill('SIGTERM')
  await closed
  return errors
}

test('a server sets its flags before it loads a bundle, so that V8 takes back all that was stored', async () => {
  expect(await served()).not.toContain('Error')
  expect(await served()).toBe('')
})
