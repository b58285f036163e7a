/** Programs that Parley chooses come from absolute directories of PATH, outside the project, by name and by where a link leads. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, afterEach, expect, test } from 'vitest'
import { ProgramFinder } from './own-programs.ts'

let around = ''
beforeEach(() => {
  around = realpathSync(mkdtempSync(join(tmpdir(), 'parley-programs-')))
  for (const directory of ['project/bin', 'system', 'links']) mkdirSync(join(around, directory), { recursive: true })
  for (const file of ['project/bin/tool', 'project/tool', 'system/tool']) {
    writeFileSync(join(around, file), '#!/bin/sh\n')
    chmodSync(join(around, file), 0o755)
  }
  writeFileSync(join(around, 'links/data'), '')
  symlinkSync(join(around, 'project/tool'), join(around, 'links/tool'))
  symlinkSync(join(around, 'project'), join(around, 'alias'))
})
afterEach(() => rmSync(around, { recursive: true, force: true }))

function found(path: string | undefined, roots: readonly string[] = [join(around, 'project')]) {
  return new ProgramFinder(path).find('tool', roots)
}

test('a program of the system is found by its absolute path, whatever stands before it in PATH', async () => {
  const system = join(around, 'system')
  for (const before of [
    '',
    '.',
    'bin',
    `${around}/project`,
    `${around}/project/bin`,
    `${around}/links`,
    `${around}/alias`,
  ])
    expect(await found(`${before}:${system}`)).toBe(join(system, 'tool'))
  expect(await found(system, [join(around, 'alias')])).toBe(join(system, 'tool'))
})

test('a program that only the project has, or that is not executable, is not found', async () => {
  expect(await found(`:${around}/project/bin:${around}/alias/bin`)).toBeUndefined()
  expect(await found(`${around}/alias`, [join(around, 'alias')])).toBeUndefined()
  expect(await new ProgramFinder(join(around, 'links')).find('data', [])).toBeUndefined()
  expect(await found('')).toBeUndefined()
})

test('without PATH the standard directories are searched', async () => {
  expect(await new ProgramFinder(undefined).find('sh', [around])).toMatch(/^\/(?:usr\/)?bin\/sh$/u)
})
