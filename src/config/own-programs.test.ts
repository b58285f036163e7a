/** Programs that Parley chooses come from absolute directories of PATH, outside the project, by name and by where a link leads. */
import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { newDirectory } from '../../test/fixtures/process/new-directory.ts'
import { ProgramFinder } from './own-programs.ts'

let around = ''
beforeEach(() => {
  const tools = ['project/bin/tool', 'project/tool', 'system/tool']
  around = newDirectory({ ...Object.fromEntries(tools.map((tool) => [tool, '#!/bin/sh\n'])), 'links/data': '' })
  for (const tool of tools) chmodSync(join(around, tool), 0o755)
  symlinkSync(join(around, 'project/tool'), join(around, 'links/tool'))
  symlinkSync(join(around, 'project'), join(around, 'alias'))
})

function found(path: string | undefined, roots: readonly string[] = [join(around, 'project')]) {
  return new ProgramFinder(path).find('tool', roots)
}

test('a program of the system is found by its absolute path, whatever stands before it in PATH', async () => {
  const system = join(around, 'system')
  const ofProject = ['project', 'project/bin', 'links', 'alias'].map((name) => join(around, name))
  for (const before of ['', '.', 'bin', ...ofProject])
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
