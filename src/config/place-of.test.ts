import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { reasonOf } from '../errors/parley-error.ts'
import { loadConfig } from './load.ts'
import { placeOf } from './place-of.ts'

const directory = mkdtempSync(join(tmpdir(), 'parley-config-'))
afterAll(() => rmSync(directory, { recursive: true }))
mkdirSync(join(directory, 'parley'))
const file = join(directory, 'parley', 'parley.toml')
const project = join(directory, '.parley.toml')

/** What whoever has to correct it is told, with FILE for the file. */
async function toldOf(toml: string, environment: Readonly<Record<string, string>> = {}, path = file): Promise<string> {
  writeFileSync(path, toml)
  const loading = loadConfig({}, { XDG_CONFIG_HOME: directory, ...environment }, directory)
  const told = await loading.then(() => 'nothing', reasonOf)
  rmSync(path)
  return told.replace(path, 'FILE')
}

test.each([
  ['agent = "guide\n', 'The settings FILE:1:15 cannot be read: this is no TOML: control characters'],
  ['# mine\n\nagent = "guide"\nagent = "auto"\n', 'The settings FILE:4:'],
  ['# agnt\nagnt = "guide"\n', 'agnt cannot be set: there is no such setting; perhaps agent is meant (FILE:2).'],
  ['zebra = 1\n', 'zebra cannot be set: there is no such setting (FILE:1).'],
  ['[agent]\nkind = "guide"\n', 'agent cannot be a table: it is a text, a number, true or false (FILE:1).'],
  ['agent = ["guide"]', 'agent cannot be a list'],
  ['agent = 2026-01-01', 'agent cannot be a table'],
  ['\nidle_minutes = "soon"\n', 'it is a number of minutes from 0 (FILE:2).'],
  ['max_stall_seconds = 2\n', 'it is a whole number of seconds from 5, or 0 (FILE:1).'],
  ['\nagent = "robot"\n', 'or auto (FILE:2).'],
  ['agent = "guide"\nmodel = "robot"\n', '(FILE:2).'],
  ['home = "/tmp"\n', 'home cannot be set: no file may set it; use PARLEY_HOME (FILE:1).'],
  ['[mcp.a]\ncommand = "a"\n[mcp.b]\ncomand = "b"\n', 'timeout_seconds, total_seconds (FILE:4).'],
  ['[mcp.a]\ncommand = 1\n[mcp.b]\ncommand = "b"\n', 'it is a text (FILE).'],
  ['[permissions]\nallow = [\n  { tol = "x" },\n]\n', '(FILE:3).'],
  ['[providers.x]\nur = "x"\n', '(FILE:2).'],
])('%j is told with the place where it stands', async (toml, told) => {
  expect(await toldOf(toml)).toContain(told)
})

test('what the environment or a project says is told as that', async () => {
  const environment = { PARLEY_IDLE_MINUTES: 'soon' }
  expect(await toldOf('idle_minutes = 5\n', environment)).toContain('minutes from 0 (PARLEY_IDLE_MINUTES).')
  const told = await toldOf('[providers.x]\nurl = "http://a"\n', {}, project)
  expect(told).toBe(
    'The setting providers cannot be set: a project may choose a model, but only your own file says where models are (FILE).',
  )
})

test('a line that is long and full of brackets is no reason to wait', () => {
  expect(placeOf('parley.toml', `${'['.repeat(200_000)}\nagent = 1`, 'agent')).toBe('parley.toml:2')
})
