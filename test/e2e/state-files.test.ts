/** Commands that change one file at the same time: what each of them changed is there afterwards. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { jsonLines, parley, workIn } from './cli.ts'
import { freshDirectory } from './parley.ts'

const NAMES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']

function atOnce(home: string, argsOf: (name: string) => readonly string[]) {
  return Promise.all(NAMES.map((name) => parley(argsOf(name), { home })))
}

test('parley mcp trust for several servers at once keeps every consent', async () => {
  const home = freshDirectory()
  const tables = NAMES.map((name) => `[mcp.${name}]\ncommand = "true"\n`)
  writeFileSync(join(workIn(home), '.parley.toml'), tables.join(''))
  // So many that reading and writing them takes its time.
  const others = Array.from({ length: 4000 }, (_, n) => [
    `digest-${n}`,
    { file: `/project-${n}/.parley.toml`, name: 'x' },
  ])
  writeFileSync(join(home, 'mcp-consent.json'), JSON.stringify(Object.fromEntries(others)))
  const finished = await atOnce(home, (name) => ['mcp', 'trust', name])
  expect(finished.map(({ code }) => code)).toEqual(NAMES.map(() => 0))
  const { stdout } = await parley(['mcp', 'ls', '--json'], { home })
  expect(jsonLines(stdout).map(({ name, standing }) => [name, standing])).toEqual(NAMES.map((name) => [name, 'active']))
})

test('parley mcp add and rm of several servers at once leave each of them as it was told', async () => {
  const home = freshDirectory()
  const file = join(home, 'config/parley/parley.toml')
  mkdirSync(join(home, 'config/parley'), { recursive: true })
  writeFileSync(file, '# mine\n[mcp.old]\ncommand = "true"\n')
  const adding = atOnce(home, (name) => ['mcp', 'add', name, '--', 'true'])
  const removed = await parley(['mcp', 'rm', 'old'], { home })
  expect([removed, ...(await adding)].map(({ code }) => code)).toEqual([0, ...NAMES.map(() => 0)])
  const tables = [...readFileSync(file, 'utf8').matchAll(/^\[mcp\.(\w+)\]$/gmu)].map(([, name]) => name)
  expect(tables.toSorted()).toEqual(NAMES.toSorted())
  expect(readFileSync(file, 'utf8')).toContain('# mine')
})
