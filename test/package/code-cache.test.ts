/** What a bundle does never depends on the code that was stored of it. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
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

test('where nothing can be stored, nothing is missing', () => {
  writeFileSync(join(packaged, 'cache'), 'no directory')
  expect(run()).toBe('one')
})
