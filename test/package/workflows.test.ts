/** The workflow files: they parse, and what they run is there. No machine here can run them. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, '.github/workflows')

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly 'runs-on': string; readonly steps: readonly { readonly run?: string }[] }>
  >
}

const workflows = readdirSync(folder).map((name) => ({
  name,
  workflow: parse(readFileSync(join(folder, name), 'utf8')) as Workflow,
}))
const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

test('there is one for every change and one for a release', () => {
  expect(workflows.map(({ name }) => name).toSorted()).toEqual(['ci.yml', 'release.yml'])
})

test.each(workflows)('$name runs scripts and tests that exist', ({ workflow }) => {
  const runs = Object.values(workflow.jobs).flatMap(({ steps }) => steps.flatMap(({ run = [] }) => run))
  expect(runs).not.toEqual([])
  const named = runs.flatMap((run) => [...run.matchAll(/npm run ([\w-]+)/gu)].map(([, name = '']) => name))
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  const paths = runs.flatMap((run) => run.split(' ').filter((word) => /^(?:test|\.ci)\//u.test(word)))
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('the three systems are tried', () => {
  const text = readFileSync(join(folder, 'ci.yml'), 'utf8')
  for (const system of ['ubuntu-', 'macos-', 'windows-']) expect(text).toContain(system)
})

test('a release is published with its provenance, and with no stored token', () => {
  const text = readFileSync(join(folder, 'release.yml'), 'utf8')
  expect(text).toContain('--provenance')
  expect(text).toContain('id-token: write')
  expect(text).not.toContain('secrets.')
})
