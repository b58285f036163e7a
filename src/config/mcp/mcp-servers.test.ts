/**
 * MCP servers in configuration files: the valid tables, the consent that a project's servers need, and how the file is
 * changed.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newDirectory } from '../../../test/fixtures/process/new-directory.ts'
import { allow, withdrawTrust } from './edit-trust.ts'
import { loadConfig } from '../load.ts'
import { addTable, removeTable } from '../files/edit-tables.ts'
import { readMcpFiles } from './server-files.ts'
import { importedFrom } from './import-servers.ts'
import { readMcp } from './mcp-servers.ts'
import { withoutTable } from '../files/toml-tables.ts'
import { filledIn, filledInLogin } from '../files/variables.ts'

const mcp = (name: string) => ({ group: 'mcp', name }) as const

function place(user: string, project?: string) {
  const theirs = { 'work/.parley.toml': project ?? '' }
  const home = newDirectory({ 'work/': '', 'parley/parley.toml': user, ...(project !== undefined && theirs) })
  const cwd = join(home, 'work')
  const where = { home, environment: { XDG_CONFIG_HOME: home } }
  const found = () => readMcpFiles(where, cwd).servers
  const standings = () => found().map(({ standing }) => standing)
  const allowAll = () => {
    for (const { digest, file, entry } of found()) allow(home, digest, { file, name: entry.name })
  }
  const writeProject = (text: string) => writeFileSync(join(cwd, '.parley.toml'), text)
  return { where, cwd, file: join(home, 'parley/parley.toml'), found, standings, allowAll, writeProject }
}

test.each<[string, string, (path: string) => unknown]>([
  ['a pipe without a writer', 'it is not a file', (path) => execFileSync('mkfifo', [path])],
  ['a directory', 'it is not a file', (path) => mkdirSync(path)],
  ['a giant', 'it is larger than 64 KiB', (path) => writeFileSync(path, `# ${'x'.repeat(2 ** 16)}`)],
  ['a link in a circle', 'ELOOP', (path) => symlinkSync(path, path)],
])(
  'an unreadable settings file of a project %s: is reported at once, and the user’s own servers still work',
  async (_what, reason, breakIt) => {
    const { where, cwd } = place('[mcp.s]\ncommand = "x"\n')
    const file = join(cwd, '.parley.toml')
    breakIt(file)
    const { servers, faults } = readMcpFiles(where, cwd)
    expect(servers).toMatchObject([{ entry: { name: 's' }, standing: 'active' }])
    expect(faults).toMatchObject([{ key: file, value: 'read', file, reason: expect.stringContaining(reason) }])
    // A link that points at itself cannot be opened by any user.
    if (reason === 'ELOOP') return
    const { warnings } = await loadConfig({}, where.environment, cwd)
    expect(warnings).toEqual([expect.stringContaining(reason)])
  },
)

describe('the keys of a server', () => {
  test.each([
    [{ command: 'x', url: 'http://a' }, 'mcp.s.url', 'a server has a command or a url, not both'],
    [{ command: 'x', arg: [] }, 'mcp.s.arg', 'there is only command, args'],
    [{ command: 'x', args: 'y' }, 'mcp.s.args', 'it must be a list of texts'],
    [{ command: './x' }, 'mcp.s.command', 'write its absolute path'],
    [{ command: 'x', idle_seconds: -1 }, 'mcp.s.idle_seconds', 'from 0'],
    [{ command: 'x', shared: 'yes' }, 'mcp.s.shared', 'true or false'],
    [{ url: 'ftp://a' }, 'mcp.s.url', 'it must be an http or https URL'],
    [{ command: 'x', login: { scope: 'a' } }, 'mcp.s.login', 'it goes with a url'],
    [{ url: 'http://a', login: { id: 'a' } }, 'mcp.s.login.id', 'there is only client_id'],
    [{ url: 'http://a', login: { redirect_url: 'http://a.example:80/' } }, 'mcp.s.login.redirect_url', '127.0.0.1'],
    [{ url: 'http://a', env: { A: '1' } }, 'mcp.s.env', 'it goes with a command'],
    [{ url: 'http://a', type: 'stdio' }, 'mcp.s.type', 'stdio goes with a command, http and sse go with a url'],
    [{ command: 'x', timeout_seconds: 0 }, 'mcp.s.timeout_seconds', 'it must be a number of seconds above 0'],
    [{ tools: { a: { max_seconds: '1' } } }, 'mcp.s.tools.a.max_seconds', 'it must be a number of seconds above 0'],
    ['x', 'mcp.s', 'a server is a table: command, or url'],
  ])('%j is refused', (table, key, reason) => {
    expect(readMcp({ s: table }, 'user')).toMatchObject([{ fault: { key, reason: expect.stringContaining(reason) } }])
  })

  test('a command reports the mistake with the file and without the value', async () => {
    const { where, cwd, file } = place('[mcp.s]\ncommand = "x"\nenv = "sentinel-secret"\n')
    const loading = loadConfig({}, where.environment, cwd)
    await expect(loading).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(loading).rejects.toThrow('mcp.s.env is invalid: it must be a table of texts')
    await expect(loading).rejects.toThrow(`(${file}:3)`)
    await expect(loading).rejects.not.toThrow('sentinel')
  })

  test('login settings have their own keys, and need consent in a project', () => {
    const login = { client_id: 'a', client_secret: '${S}', scope: 'b', redirect_url: 'http://localhost:1/x' }
    const [read] = readMcp({ s: { url: 'http://a', login } }, 'user')
    const inside = { clientId: 'a', clientSecret: '${S}', scope: 'b', redirectUrl: 'http://localhost:1/x' }
    expect(read).toMatchObject({ entry: { login: inside } })
    expect(filledInLogin(inside, { S: 'c' })).toEqual({ login: { ...inside, clientSecret: 'c' } })
    expect(filledInLogin(inside, {})).toEqual({ missing: ['S'] })
    const { standings, allowAll, writeProject } = place('', '[mcp.s]\nurl = "http://a"\n')
    allowAll()
    writeProject('[mcp.s]\nurl = "http://a"\n[mcp.s.login]\nscope = "all"\n')
    expect(standings()).toEqual(['waiting'])
  })

  test('limits are converted to milliseconds, and an invalid one does not affect the others', () => {
    const { where, cwd } = place('[mcp.bad]\n[mcp.s]\ncommand = 1\n[mcp.t]\nurl = "http://a"\ntimeout_seconds = 1.5\n')
    const { servers, faults } = readMcpFiles(where, cwd)
    expect(servers.map(({ entry }) => [entry.name, entry.rules])).toEqual([
      ['bad', {}],
      ['t', { timeoutMs: 1500 }],
    ])
    expect(faults).toMatchObject([{ key: 'mcp.s.command' }])
  })
})

test('variables are substituted, or named if they are not set', () => {
  const http = { type: 'http', url: 'http://${HOST:-localhost}/', headers: { Key: 'Bearer ${KEY}' } } as const
  const place = { type: 'http', url: 'http://localhost/', headers: { Key: 'Bearer k' } }
  expect(filledIn(http, { KEY: 'k' })).toEqual({ place })
  expect(filledIn(http, {})).toEqual({ missing: ['KEY'] })
})

describe('an MCP server of a project', () => {
  const project = '[mcp.tool]\ncommand = "./tool"\n'

  test('waits for consent to exactly its settings', () => {
    const { where, cwd, found, standings, allowAll, writeProject } = place('', project)
    expect(found()).toMatchObject([{ standing: 'waiting', from: 'project' }])
    allowAll()
    expect(standings()).toEqual(['active'])
    writeProject(project.replace('./tool', './other'))
    expect(standings()).toEqual(['waiting'])
    writeProject(project)
    withdrawTrust(where.home, { file: join(cwd, '.parley.toml'), name: 'tool' })
    expect(standings()).toEqual(['waiting'])
    expect(statSync(join(where.home, 'mcp-consent.json')).mode & 0o777).toBe(0o600)
  })

  test('does not replace a server of the user before consent', () => {
    const { found, standings, allowAll } = place('[mcp.tool]\nurl = "http://a"\n', project)
    expect(found().map(({ from, standing }) => `${from} ${standing}`)).toEqual(['user active', 'project waiting'])
    allowAll()
    expect(standings()).toEqual(['overruled', 'active'])
  })

  test('that was trusted in one directory is not trusted in another', () => {
    const { where, allowAll } = place('', project)
    allowAll()
    const elsewhere = newDirectory({ '.parley.toml': project })
    expect(readMcpFiles(where, elsewhere).servers).toMatchObject([{ standing: 'waiting' }])
  })
})

describe('changing the file', () => {
  const text = `# mine\nagent = "guide" # yes\n\n# about a\n[mcp.a]\ncommand = "a"\nargs = [\n  "[mcp.b]",\n]\n\n[mcp.a.env]\nX = "1"\n\n# about b\n[mcp."b c"]\nurl = "http://b" # kept\n`

  test('removes one table with its sub-tables, and no comment of another', () => {
    const { file } = place(text)
    removeTable(file, mcp('a'))
    expect(readFileSync(file, 'utf8')).toBe(
      '# mine\nagent = "guide" # yes\n\n# about a\n\n# about b\n[mcp."b c"]\nurl = "http://b" # kept\n',
    )
    removeTable(file, mcp('b c'))
    expect(readFileSync(file, 'utf8')).toBe('# mine\nagent = "guide" # yes\n\n# about a\n\n# about b\n')
  })

  test('adds a table at the end, and removing it restores the file', () => {
    const { file } = place(text)
    addTable(file, mcp('new one'), { command: 'n', env: { K: '${K}' } })
    const changed = readFileSync(file, 'utf8')
    expect(changed.startsWith(text)).toBe(true)
    expect(changed.slice(text.length)).toBe('\n[mcp."new one"]\ncommand = "n"\n\n[mcp."new one".env]\nK = "${K}"\n')
    removeTable(file, mcp('new one'))
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('is refused if the servers are not written as tables', () => {
    expect(withoutTable('mcp.a.command = "a"\n', ['mcp', 'a'])).toBeUndefined()
    const { file } = place('mcp = { a = { command = "a" } }\n')
    expect(() => addTable(file, mcp('b'), { command: 'b' })).toThrow('edit it yourself')
    expect(readFileSync(file, 'utf8')).toBe('mcp = { a = { command = "a" } }\n')
  })

  test('keeps a symbolic link, and a new file is readable by the user only', () => {
    const { where, file } = place('')
    const link = join(where.home, 'link.toml')
    symlinkSync(file, link)
    addTable(link, mcp('a'), { command: 'a' })
    expect(readFileSync(file, 'utf8')).toContain('[mcp.a]')
    addTable(join(where.home, 'new/parley.toml'), mcp('a'), { command: 'a' })
    expect(statSync(join(where.home, 'new/parley.toml')).mode & 0o777).toBe(0o600)
  })
})

describe('importing', () => {
  test('accepts the formats of other tools, and names what it leaves out', () => {
    const mcpServers = {
      a: { type: 'stdio', command: 'npx', args: ['-y', 'a'], env: { KEY: '${env:KEY}', N: 1 }, cwd: '/x' },
      b: { serverUrl: 'https://b/mcp', headers: {}, disabled: true },
      c: { type: 'sse', url: 'https://c/sse' },
      d: { type: 'streamable-http', url: 'https://d' },
    }
    expect(importedFrom('f', JSON.stringify({ mcpServers }))).toEqual([
      { name: 'a', table: { command: 'npx', args: ['-y', 'a'], env: { KEY: '${KEY}', N: '1' } }, leftOut: ['cwd'] },
      { name: 'b', table: { url: 'https://b/mcp', enabled: false }, leftOut: [] },
      { name: 'c', table: { url: 'https://c/sse', type: 'sse' }, leftOut: [] },
      { name: 'd', table: { url: 'https://d' }, leftOut: [] },
    ])
  })

  test('of an unknown format is refused without quoting it', () => {
    expect(() => importedFrom('f.json', '{}')).toThrow('The file "f.json" cannot be used: it has no "mcpServers".')
    const said = 'The file "f.json" cannot be used: it is not valid JSON (line 1, column 7).'
    expect(() => importedFrom('f.json', '{"k": sentinel}')).toThrow(said)
  })

  test.each([
    ['', 1, 1],
    ['{"a": 1,}', 1, 9],
    ['{\n  "a": "x"\n  "b": 2\n}', 3, 3],
    ['{"a": tru}', 1, 10],
    ['{"a": [1, 2', 1, 12],
    ['{} sentinel', 1, 4],
  ])('names the position where %j stops being JSON', (text, line, column) => {
    expect(() => importedFrom('f.json', text)).toThrow(`not valid JSON (line ${line}, column ${column}).`)
  })
})
