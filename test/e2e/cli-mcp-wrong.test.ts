/** `parley mcp` with words that are wrong: one sentence of what is wrong and what there is, and nothing is started or written. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parley, workIn } from './cli.ts'
import { freshDirectory } from './parley.ts'

const MINE =
  '[mcp.files]\ncommand = "true"\n\n[mcp.wiki]\nurl = "http://127.0.0.1:9/"\n\n[mcp.rules]\nexclude = ["do"]\n'

function configured() {
  const home = freshDirectory()
  const file = join(home, 'config/parley/parley.toml')
  mkdirSync(join(home, 'config/parley'), { recursive: true })
  writeFileSync(file, MINE)
  return { home, file, mcp: (...words: readonly string[]) => parley(['mcp', ...words], { home }) }
}

describe.concurrent('parley mcp', () => {
  const cases: readonly (readonly [words: readonly string[], code: number, says: string])[] = [
    [['rm'], 2, "missing required argument 'name'"],
    [['test', 'mark'], 1, 'No MCP server is called "mark" (configured: files, wiki, rules). For a command'],
    [['test', 'mark', 'more'], 2, 'a command stands behind --'],
    [['test', 'http://'], 2, 'that is no URL'],
    [['test', 'rules'], 1, 'rules has only rules in'],
    [['login', 'mark'], 1, 'No MCP server is called "mark" (configured: files, wiki, rules)'],
    [['login', 'https://'], 1, 'No MCP server is called "https://"'],
    [['logout', 'mark'], 1, '(configured: files, wiki, rules)'],
    [['rm', 'mark'], 1, '(configured: files, wiki, rules)'],
    [['add', 'new'], 2, 'give a command behind --, or a --url'],
    [['add', 'new', '--url', 'http://a/', '--', 'true'], 2, 'not both'],
    [['add', 'new', '--sse', '--', 'true'], 2, '--sse goes with a --url'],
    [['add', 'files', '--', 'true'], 1, 'already an MCP server files'],
    [['add', '', '--', 'true'], 2, 'its name has 1 to 100 characters'],
    [['add', 'two\nlines', '--', 'true'], 2, 'its name has 1 to 100 characters'],
    [['add', 'new', '--url', 'http://a b/'], 2, 'it must be an http or https URL'],
    [['add', 'new', '--url', 'http://a/', '--header', 'a b: sentinel-secret'], 2, 'it must be written as NAME=VALUE'],
    [['add', 'new', '--url', 'http://a/', '--header', 'ä: sentinel-secret'], 2, 'whose names are those of headers'],
    [['add', 'new', '--url', 'http://a/', '--header', 'a: sentinel\nsecret'], 2, 'in one line each'],
    [['import', 'no-such.json'], 1, 'There is no file "no-such.json"'],
    [['import', '.'], 1, 'it is not a file'],
  ]
  test.concurrent.each(cases)('%j ends with %i', async (words, code, says) => {
    const { file, home } = configured()
    // A program of that name in the directory and on PATH: a name that is misspelt must not start it.
    const mark = join(home, 'started')
    writeFileSync(join(workIn(home), 'mark'), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
    const { code: ended, stderr } = await parley(['mcp', ...words], {
      home,
      env: { PATH: `${workIn(home)}:${process.env['PATH']}` },
    })
    expect({ ended, stderr }).toEqual({ ended: code, stderr: expect.stringContaining(says) as string })
    expect(stderr).not.toContain('sentinel')
    expect(readFileSync(file, 'utf8')).toBe(MINE)
    expect(existsSync(mark)).toBe(false)
  })

  test.concurrent('add takes what is only half known: variables in a URL, also in the place of its port', async () => {
    const { mcp } = configured()
    for (const [name, url] of [
      ['one', '${WHERE}'],
      ['two', 'http://${HOST}:${PORT}/mcp'],
    ] as const)
      expect(await mcp('add', name, '--url', url)).toMatchObject({ code: 0, stderr: '' })
  })

  test.concurrent('without a verb the servers are listed', async () => {
    const { mcp } = configured()
    const listed = await mcp('ls')
    expect(listed.stdout).toContain('files')
    expect(await mcp()).toEqual(listed)
  })

  test.concurrent('rm takes away a table that is wrong, too', async () => {
    const { file, mcp } = configured()
    writeFileSync(file, `${MINE}\n[mcp.odd]\ncommand = 5\n`)
    expect(await mcp('rm', 'odd')).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).not.toContain('odd')
  })
})

test.concurrent('import takes nothing that is no server, and says of each why', async () => {
  const { home, file, mcp } = configured()
  const mcpServers = {
    empty: {},
    nothing: null,
    text: 'npx x',
    switch: { disabled: true },
    number: { command: 5 },
    list: { command: ['npx', 'x'] },
    both: { command: 'a', url: 'http://a/' },
    words: { command: 'a', args: '-y x' },
    nested: { command: 'a', env: { A: { b: 1 } } },
    nameless: { command: 'a', env: { '': 'v' } },
    blank: { url: '   ' },
    odd: { url: 'not a url' },
    transport: { url: 'http://a/', type: 'websocket' },
    contrary: { url: 'http://a/', type: 'stdio' },
    header: { url: 'http://a/', headers: { 'a b': 'v' } },
    '': { command: 'a' },
    good: { type: 'local', command: 'npx', args: ['-y', 3], env: { A: 1, B: null, C: '${env:HOME}' } },
    remote: { type: 'streamable-http', url: 'http://a/' },
  }
  const path = join(home, 'other.json')
  writeFileSync(path, JSON.stringify({ mcpServers }))
  const { code, stdout, stderr } = await mcp('import', path)
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'Added good.\nAdded remote.\n' })
  const refused = [...stderr.matchAll(/^parley: "(.*?)" was not added: .+$/gmu)].map(([, name]) => name)
  expect(refused).toEqual(Object.keys(mcpServers).filter((name) => !['good', 'remote'].includes(name)))
  expect(stderr).toContain('"empty" was not added: it has neither a command nor a url')
  expect(readFileSync(file, 'utf8').slice(MINE.length)).toBe(
    '\n[mcp.good]\ncommand = "npx"\nargs = [ "-y", "3" ]\n\n[mcp.good.env]\nA = "1"\nC = "${HOME}"\n\n[mcp.remote]\nurl = "http://a/"\n',
  )
})

test.concurrent('import says when a file names no servers', async () => {
  const { home, mcp } = configured()
  const path = join(home, 'none.json')
  writeFileSync(path, '{"mcpServers": {}}')
  expect(await mcp('import', path)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('names no MCP servers') as string,
  })
})
