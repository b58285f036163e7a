import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Cli, endServers, jsonLines, killServer, parley, workIn } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

endServers()

/** Every finding by what was looked at; a problem always says what would help. */
async function examined(run: Parameters<typeof parley>[1]) {
  const { code, stdout, stderr } = await parley(['doctor', '--json'], run)
  const findings = jsonLines(stdout)
  const problems = findings.filter(({ state }) => state === 'problem')
  for (const problem of problems) expect(problem['remedy']).toMatch(/^[A-Z].{10,}/u)
  expect({ code, stderr }).toEqual({ code: problems.length === 0 ? 0 : 1, stderr: '' })
  return { problems, says: (what: string) => findings.filter((one) => one['what'] === what).map(({ says }) => says) }
}

/** Each file by its name, with the time of its last change. */
function contents(directory: string): Readonly<Record<string, string>> {
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile())
  const told = files.map(({ name }) => {
    const path = join(directory, name)
    return [name, `${statSync(path).mtimeMs} ${readFileSync(path).toString('latin1')}`] as const
  })
  return Object.fromEntries(told)
}

describe.concurrent('parley doctor', () => {
  test.concurrent('is well where nothing is, and makes nothing', async () => {
    const home = join(freshDirectory(), 'none')
    const cwd = freshDirectory()
    expect((await examined({ home, cwd })).problems).toEqual([])
    expect(existsSync(home)).toBe(false)
  })

  test.concurrent('names a provider that does not exist, and a wrong setting of a server once', async () => {
    const home = freshDirectory()
    chmodSync(home, 0o700)
    writeFileSync(join(workIn(home), '.parley.toml'), 'agent = "model:foo:bar"\n[mcp.a]\ncomand = "a"\n')
    const { problems, says } = await examined({ home })
    expect(says('agent').join()).toContain('no provider is called "foo"')
    expect(problems.filter((problem) => String(problem['says']).includes('mcp.a.comand'))).toHaveLength(1)
  })

  test.concurrent('is well beside a server and after it, and changes no byte', async () => {
    const home = freshDirectory()
    chmodSync(home, 0o700)
    const agent = await scriptAgent(home, [{ chunk: 'Hi.' }])
    await parley(['run', 'go'], { home, agent })
    await parley(['search', 'hi'], { home })
    const { problems, says } = await examined({ home })
    expect(problems).toEqual([])
    expect(says('server')).toEqual([expect.stringMatching(/^version \S+ \(pid \d+\) answers on /u)])
    expect(says('journal')).toEqual([expect.stringMatching(/^1 session, \d+ entries$/u)])
    await parley(['stop'], { home })
    const before = contents(home)
    expect((await examined({ home })).problems).toEqual([])
    expect(contents(home)).toEqual(before)
    const { stdout } = await parley(['doctor'], { home })
    expect(stdout).toMatch(/^✓ program +Parley /u)
  })

  test.concurrent('after kill -9 says what is left, and that the next server deals with it', async () => {
    const home = freshDirectory()
    chmodSync(home, 0o700)
    const agent = await scriptAgent(home, [{ chunk: 'Hi.' }])
    await parley(['run', 'go'], { home, agent })
    killServer(home)
    const { problems, says } = await examined({ home })
    expect(problems).toEqual([])
    expect(says('server')).toEqual([expect.stringContaining('is left from one that was killed')])
  })

  test.concurrent('finds a directory that is open to others, a journal that is damaged, settings that cannot be, an agent that is gone', async () => {
    const home = freshDirectory()
    const agent = await scriptAgent(home, [{ chunk: 'A sentence of some length, {n}. ', times: 2_000 }])
    await parley(['run', 'go', '--embedded'], { home, agent })
    chmodSync(home, 0o755)
    const path = join(home, 'journal.db')
    const bytes = readFileSync(path)
    bytes.fill(0x41, 4096 * 3, 4096 * 12)
    writeFileSync(path, bytes)
    mkdirSync(join(home, 'config', 'parley'), { recursive: true })
    writeFileSync(join(home, 'config', 'parley', 'parley.toml'), 'agent = "guide"\nidle_minutes = "soon"\n')
    const { problems } = await examined({ home, agent: 'script:/gone.jsonl' })
    const what = new Set(problems.map((problem) => problem['what']))
    expect(what).toEqual(new Set(['journal', 'settings', 'state directory']))
    writeFileSync(join(home, 'config', 'parley', 'parley.toml'), '')
    expect((await examined({ home, agent: 'script:/gone.jsonl' })).problems).toContainEqual(
      expect.objectContaining({ what: 'agent' }),
    )
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  test.concurrent('finds entries that are missing, a file that is none of ours, and a home that is a file', async () => {
    const home = freshDirectory()
    chmodSync(home, 0o700)
    const agent = await scriptAgent(home, [{ chunk: 'Hi {n}.', times: 3_000 }])
    await parley(['run', 'go', '--embedded'], { home, agent })
    const { DatabaseSync } = await import('@photostructure/sqlite')
    const db = new DatabaseSync(join(home, 'journal.db'))
    db.exec('DELETE FROM entries WHERE seq IN (SELECT seq FROM entries ORDER BY seq LIMIT 1 OFFSET 5)')
    db.close()
    expect((await examined({ home })).problems).toMatchObject([
      { what: 'journal', says: expect.stringMatching(/^session \S+ goes from entry \d+ to \d+$/u) },
    ])
    writeFileSync(join(home, 'journal.db'), 'This is a letter and no database. '.repeat(300))
    expect((await examined({ home })).problems).toMatchObject([
      { what: 'journal', says: expect.stringContaining('is not a Parley journal') },
    ])
    const file = join(home, 'file')
    writeFileSync(file, '')
    expect((await examined({ home: file, cwd: workIn(home) })).problems).toContainEqual(
      expect.objectContaining({ what: 'state directory', says: expect.stringContaining('is no directory') }),
    )
  })

  test.concurrent('finds a child that outlived its server and its guard', async () => {
    const home = freshDirectory()
    chmodSync(home, 0o700)
    const { createHash } = await import('node:crypto')
    const hash = createHash('sha256').update(home).digest('hex').slice(0, 12)
    const marker = `${hash}-00000000-0000-4000-8000-000000000000-1`
    const left = new Cli(['logs', '--follow'], { home, env: { PARLEY_CHILD: marker } })
    try {
      expect((await examined({ home })).problems).toMatchObject([
        { what: 'processes', says: expect.stringContaining(`(pid ${left.child.pid})`) },
      ])
    } finally {
      left.child.kill('SIGKILL')
      await left.finished
    }
  })
})
