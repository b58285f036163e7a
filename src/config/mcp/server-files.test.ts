/** The files of MCP servers are read again when they have changed, and only then. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { allow } from './edit-trust.ts'
import { McpFileReader } from './server-files.ts'

let directory: string
let now: number

beforeEach(() => {
  directory = newDirectory({ 'config/parley/': '', 'work/': '' })
  // As if all that a test writes were written a minute ago.
  now = Date.now() + 60_000
})

const work = () => join(directory, 'work')
const user = () => join(directory, 'config', 'parley', 'parley.toml')
const project = () => join(directory, 'work', '.parley.toml')
const server = (name: string): string => `[mcp.${name}]\nurl = "https://example.com/mcp"\n`

function reader(): McpFileReader {
  const environment = { HOME: directory, XDG_CONFIG_HOME: join(directory, 'config') }
  return new McpFileReader({ home: directory, environment }, () => now)
}

const namesIn = (files: McpFileReader) => files.read(work()).servers.map(({ entry }) => entry.name)

test('files that have not changed are not read again', () => {
  writeFileSync(user(), server('one'))
  const files = reader()
  const first = files.read(work())
  expect(files.read(work())).toBe(first)
  expect(first.servers).toHaveLength(1)
})

test('a change is seen at the next look: of a file that was there, one that appears, and one that goes', () => {
  const files = reader()
  expect(namesIn(files)).toEqual([])
  writeFileSync(user(), server('one'))
  expect(namesIn(files)).toEqual(['one'])
  writeFileSync(user(), server('other'))
  expect(namesIn(files)).toEqual(['other'])
  writeFileSync(project(), server('here'))
  expect(namesIn(files)).toEqual(['other', 'here'])
  rmSync(user())
  expect(namesIn(files)).toEqual(['here'])
})

test('a file that has just been written is read each time: the next change might look like the last one', () => {
  now = Date.now()
  writeFileSync(user(), server('one'))
  const files = reader()
  const first = files.read(work())
  expect(files.read(work())).not.toBe(first)
})

test('trust in a server of a project counts from the next look on', () => {
  writeFileSync(project(), server('here'))
  const files = reader()
  const [waiting] = files.read(work()).servers
  expect(waiting?.standing).toBe('waiting')
  allow(directory, waiting?.digest ?? '', { file: project(), name: 'here' })
  expect(files.read(work()).servers[0]?.standing).toBe('active')
})
