import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { reasonOf } from '../../errors/parley-error.ts'
import { loadConfig } from '../load.ts'
import { positionOfKey } from './toml-position.ts'

const directory = newDirectory({ 'parley/': '' })
const file = join(directory, 'parley', 'parley.toml')
const project = join(directory, '.parley.toml')

/** The error message, with FILE for the file. */
async function toldOf(toml: string, environment: Readonly<Record<string, string>> = {}, path = file): Promise<string> {
  writeFileSync(path, toml)
  const loading = loadConfig({}, { XDG_CONFIG_HOME: directory, ...environment }, directory)
  const told = await loading.then(() => 'nothing', reasonOf)
  rmSync(path)
  return told.replace(path, 'FILE')
}

test.each([
  ['agent = "guide\n', 'The settings FILE:1:15 cannot be read: this is not valid TOML: control characters'],
  ['# mine\n\nagent = "guide"\nagent = "auto"\n', 'The settings FILE:4:'],
  ['# agnt\nagnt = "guide"\n', 'agnt cannot be set: there is no such setting; perhaps agent is meant (FILE:2).'],
  ['zebra = 1\n', 'zebra cannot be set: there is no such setting (FILE:1).'],
  ['[agent]\nkind = "guide"\n', 'agent cannot be a table: it must be a text, a number, true or false (FILE:1).'],
  ['agent = ["guide"]', 'agent cannot be a list'],
  ['agent = 2026-01-01', 'agent cannot be a table'],
  ['\nidle_minutes = "soon"\n', 'it must be a number of minutes from 0 (FILE:2).'],
  ['max_stall_seconds = 2\n', 'it must be a whole number of seconds from 5, or 0 (FILE:1).'],
  ['\nagent = "a robot"\n', 'parley agents ls lists (FILE:2).'],
  ['agent = "guide"\nmodel = "robot"\n', '(FILE:2).'],
  ['home = "/tmp"\n', 'home cannot be set: no file may set it; use PARLEY_HOME (FILE:1).'],
  ['[mcp.a]\ncommand = "a"\n[mcp.b]\ncomand = "b"\n', 'max_seconds; perhaps command is meant (FILE:4).'],
  ['[mcp.a]\ncommand = 1\n[mcp.b]\ncommand = "b"\n', 'it must be a text (FILE:2).'],
  ['[permissions]\nallow = [\n  { tol = "x" },\n]\n', 'perhaps tool is meant (FILE:3).'],
  ['[permissions]\ndenny = []\n', 'perhaps deny is meant (FILE:2).'],
  ['[providers.x]\nur = "x"\n', 'perhaps url is meant (FILE:2).'],
  ['agent = "guide"\n\n[mpc.files]\ncommand = "a"\n', 'there is no such setting; perhaps mcp is meant (FILE:3).'],
  ['[permission]\ndeny = []\n', 'perhaps permissions is meant (FILE:1).'],
])('%j is reported with its line and column', async (toml, told) => {
  expect(await toldOf(toml)).toContain(told)
})

test('a value of the environment is reported with its variable', async () => {
  const environment = { PARLEY_IDLE_MINUTES: 'soon' }
  expect(await toldOf('idle_minutes = 5\n', environment)).toContain('minutes from 0 (PARLEY_IDLE_MINUTES).')
})

describe('the settings file of a project', () => {
  /** With PROJECT for its file. */
  async function loaded(toml: string) {
    writeFileSync(project, toml)
    const config = await loadConfig({}, { XDG_CONFIG_HOME: directory }, directory)
    rmSync(project)
    return { ...config, warnings: config.warnings.map((one) => one.replace(project, 'PROJECT')) }
  }

  test.each([
    ['agnet = "guide"\n', 'PROJECT:1: agnet is ignored: there is no such setting; perhaps agent is meant.'],
    ['\n[mcp.a]\ncomand = "a"\n', 'PROJECT:3: mcp.a.comand is ignored: there is only command,'],
    ['[mcp_servers.a]\n', 'PROJECT:1: mcp_servers is ignored: there is no such setting; perhaps [mcp.NAME] is meant.'],
    ['[[rules]]\n', 'PROJECT:1: rules is ignored: there is no such setting; perhaps [permissions] is meant.'],
    ['[mpc.a]\n', 'PROJECT:1: mpc is ignored: there is no such setting; perhaps mcp is meant.'],
    ['agent = ["guide"]\n', 'PROJECT:1: agent is ignored: it must be a text, a number, true or false.'],
    ['agent = "robot"\n', 'PROJECT:1: agent is ignored: a project may choose auto, guide, model'],
    ['model = 5\n', 'PROJECT:1: model is ignored: it must be PROVIDER:NAME.'],
    [
      'idle_minutes = 0\n',
      'PROJECT:1: idle_minutes is ignored: only your own parley.toml or PARLEY_IDLE_MINUTES sets it.',
    ],
    [
      '[permissions]\nallow = 1\n',
      'PROJECT:2: permissions.allow is wrong, so every call of a tool is asked about: it must',
    ],
    ['[providers.x]\n', 'PROJECT:1: providers is ignored: a project may choose a model, but only your own'],
    ['agent = "guide\n', 'The settings PROJECT:1:15 cannot be read: this is not valid TOML'],
    [`# ${'x'.repeat(64 * 1024)}`, 'The settings PROJECT cannot be read: it is larger than 64 KiB.'],
  ])('with %j gets a warning, and nothing is refused', async (toml, told) => {
    const { warnings, agent } = await loaded(toml)
    expect(warnings).toEqual([expect.stringContaining(told)])
    expect(agent).toEqual({ kind: 'auto' })
  })

  test('has its valid keys applied beside invalid ones', async () => {
    expect((await loaded('agnet = 1\nagent = "guide"\n')).agent).toEqual({ kind: 'guide' })
  })

  test('has its first mistakes reported, and the number of the others', async () => {
    const { warnings } = await loaded(Array.from({ length: 900 }, (_, at) => `k${at} = 1\n`).join(''))
    expect([warnings.length, warnings.at(-1)]).toEqual([6, 'PROJECT: 895 more settings are wrong.'])
  })
})

test('a settings file with a misspelled name is reported', async () => {
  const [mine, theirs] = [join(directory, 'parley', '.parley.toml'), join(directory, 'parley.toml')]
  for (const path of [mine, theirs]) writeFileSync(path, 'agent = "guide"\n')
  const { warnings, agent } = await loadConfig({}, { XDG_CONFIG_HOME: directory }, directory)
  for (const path of [mine, theirs]) rmSync(path)
  expect(agent).toEqual({ kind: 'auto' })
  expect(warnings).toEqual([
    `${mine} is not read: the settings of this directory are in parley.toml.`,
    `${theirs} is not read: the settings of this directory are in .parley.toml.`,
  ])
})

test('a script in the user’s file is relative to that file, and its tool calls need permission', async () => {
  const environment = { XDG_CONFIG_HOME: directory }
  const agentIn = async (env: Readonly<Record<string, string>>) => (await loadConfig({}, env, '/cloned')).agent
  writeFileSync(file, 'agent = "script:mine.jsonl"\n')
  const beside = { kind: 'script', path: join(directory, 'parley', 'mine.jsonl'), isAsked: true }
  expect(await agentIn(environment)).toEqual(beside)
  const named = { kind: 'script', path: '/cloned/now.jsonl', isAsked: false }
  expect(await agentIn({ ...environment, PARLEY_AGENT: 'script:now.jsonl' })).toEqual(named)
  rmSync(file)
})

test('a long line full of brackets is parsed in bounded time', () => {
  expect(positionOfKey('parley.toml', `${'['.repeat(200_000)}\nagent = 1`, 'agent')).toBe('parley.toml:2')
})
