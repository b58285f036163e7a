import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Cli, endServers, jsonLines, parley, sessionIdIn, sessionsIn, workIn } from './cli.ts'
import { binary, freshDirectory, initialize, newSession, promptOf, scriptAgent, startParley } from './parley.ts'

endServers()

describe.concurrent('parley ls', () => {
  test.concurrent('is empty where nothing was said, and makes nothing', async () => {
    const home = freshDirectory()
    expect(await parley(['ls'], { home })).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(existsSync(join(home, 'journal.db'))).toBe(false)
  })

  test.concurrent.each(['ls', 'search word', 'show x'])(
    'where there cannot be a state, %s says so in one line',
    async (words) => {
      const directory = freshDirectory()
      writeFileSync(join(directory, 'file'), '')
      const { code, stdout, stderr } = await parley(words.split(' '), { home: join(directory, 'file'), cwd: directory })
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^parley: The journal .*file\/journal\.db could not be read or written: ENOTDIR.*\n$/u)
    },
  )

  test.concurrent('in a directory that was removed meanwhile says that', async () => {
    const home = freshDirectory()
    const gone = `const { mkdirSync, rmdirSync } = require('node:fs')
      mkdirSync('gone')
      process.chdir('gone')
      rmdirSync('../gone')
      process.exit(require('node:child_process').spawnSync(process.execPath, process.argv.slice(1), { stdio: 'inherit' }).status)`
    for (const command of ['ls', 'acp']) {
      const { code, stderr } = await parley([gone, binary, ...command.split(' ')], { home, program: '-e' })
      expect([command, code]).toEqual([command, 1])
      expect(stderr).toContain('The current directory has been removed. Change to another one and try again.')
    }
  })

  test.concurrent('lists the newest first, as text and as one SessionInfo per line; --cwd filters exactly', async () => {
    const home = freshDirectory()
    const agent = await scriptAgent(home, [{ chunk: 'Hi.' }])
    await parley(['run', 'first \u001b[31mwords'], { home, agent })
    await parley(['run', 'second', '--cwd', '/'], { home, agent })
    const listed = jsonLines((await parley(['ls', '--json'], { home })).stdout)
    expect(listed).toEqual([
      {
        sessionId: expect.any(String),
        cwd: '/',
        title: 'second',
        updatedAt: expect.stringMatching(/^\d{4}-.*Z$/u),
        _meta: { 'parley/agent': 'script' },
      },
      expect.objectContaining({ cwd: workIn(home) }),
    ])
    const { stdout } = await parley(['ls'], { home })
    expect(stdout).toMatch(
      /^[0-9a-f]{8} {4}just now +script +second +\/\n[0-9a-f]{8} {4}just now +script +first words +\S+\/work\n$/u,
    )
    expect(jsonLines((await parley(['ls', '--json', '--cwd', '/'], { home })).stdout)).toEqual([listed[0]])
    expect((await parley(['ls', '--cwd', '/wo'], { home })).stdout).toBe('')
  })
})

describe.concurrent('parley show', () => {
  test.concurrent('tells the same as a load does', async () => {
    const home = freshDirectory()
    const script = [
      { thought: 'Hm.' },
      { chunk: 'Hello {n}. ', times: 3 },
      { plan: ['Look', { content: 'Tell', status: 'completed' }] },
      { toolCall: { title: 'Look', status: 'failed' } },
      { chunk: 'Bye.' },
    ]
    const agent = await scriptAgent(home, script)
    const sessionId = sessionIdIn((await parley(['run', '--embedded', '--json', '你好'], { home, agent })).stdout)
    const shown = jsonLines((await parley(['show', '--json', sessionId], { home })).stdout)
    const client = startParley({ home, agent })
    await initialize(client)
    await client.request('session/load', { sessionId, cwd: workIn(home), mcpServers: [] })
    const loaded = client.received.filter(({ method }) => method === 'session/update').map(({ params }) => params)
    await client.leave()
    // Opening a session is an entry of its own, so the state that a load ends with has a later place.
    const said = (params: unknown) => (params as { readonly update: unknown }).update
    expect(shown.map(said)).toEqual(loaded.map(said))
    const { stdout } = await parley(['show', sessionId.slice(0, 8)], { home })
    expect(stdout.split('\n').slice(2)).toEqual([
      '',
      expect.stringMatching(/^\(entry \d+\)$/u),
      '› 你好',
      '',
      'Hm.',
      '',
      'Hello 1. Hello 2. Hello 3.',
      '',
      '✗ Look',
      '',
      'Bye.',
      '',
      '  ○ Look',
      '  ✓ Tell',
      '',
    ])
  })

  test.concurrent('says above each prompt as far as what a fork has all of before, and not that prompt', async () => {
    const home = freshDirectory()
    const agent = await scriptAgent(home, [{ chunk: 'Hi.' }])
    await parley([], { home, agent }, 'first\nsecond\n')
    const [session] = await sessionsIn({ home, cwd: workIn(home) })
    const { stdout } = await parley(['show', String(session?.['sessionId'])], { home })
    const [, entry = ''] = /\(entry (\d+)\)\n› second/u.exec(stdout) ?? []
    const fork = await parley(['fork', String(session?.['sessionId']), '--up-to', entry], { home })
    const forked = (await parley(['show', fork.stdout.trim()], { home })).stdout
    const said = /› first\n\nHi\.\n/u
    expect([said.test(stdout), said.test(forked), forked.includes('› second')]).toEqual([true, true, false])
  })

  test.concurrent('a turn that died with its owner says that it was interrupted, before anyone has recovered it and after', async () => {
    const home = freshDirectory()
    const steps = [
      { toolCall: { toolCallId: 't', title: 'Dig', status: 'in_progress' } },
      { chunk: 'word {n}\n', times: 10_000, everyMs: 20 },
    ]
    const agent = await scriptAgent(home, steps)
    const cli = new Cli(['run', 'go', '--embedded', '--json'], { home, agent })
    await cli.until('word 5')
    cli.child.kill('SIGKILL')
    await cli.finished
    const id = sessionIdIn(cli.stdout)
    const before = await parley(['show', id], { home })
    expect(before).toMatchObject({ code: 0, stderr: '' })
    expect(before.stdout).toMatch(/› go\n\n✗ Dig — Interrupted; it may have run\.\n\nword 1\n[^]*word 5\n/u)
    expect(before.stdout).toContain('Interrupted: the server stopped while it was working on this.')
    const beforeJson = jsonLines((await parley(['show', '--json', id], { home })).stdout)
    // A new owner recovers the session; what is shown stays the same.
    await parley([], { home, agent }, '')
    const updatesOf = (lines: readonly object[]) =>
      lines.map((line) => JSON.stringify(line)).filter((line) => !line.includes('_update","t'))
    expect(updatesOf(jsonLines((await parley(['show', '--json', id], { home })).stdout))).toEqual(updatesOf(beforeJson))
  })

  test.concurrent('a turn that waited for an answer when its owner died says so', async () => {
    const home = freshDirectory()
    const agent = await scriptAgent(home, [{ permission: { title: 'Delete all' } }])
    const client = startParley({ home, agent })
    await initialize(client)
    const sessionId = await newSession(client, '/')
    client.ask('session/prompt', promptOf(sessionId, 'go'))
    await client.until(({ method }) => method === 'session/request_permission')
    await client.kill()
    const { stdout } = await parley(['show', sessionId], { home })
    expect(stdout).toContain('⚙ Delete all … waiting')
    expect(stdout).toContain('(Not finished: the turn waits for an answer to its question.')
  })

  test.concurrent('an id that fits none or several is one clear line, exit 1', async () => {
    const home = freshDirectory()
    const agent = await scriptAgent(home, [{ chunk: 'Hi.' }])
    const client = startParley({ home, agent })
    await initialize(client)
    const ids = await Promise.all(Array.from({ length: 17 }, () => newSession(client, '/')))
    await client.leave()
    // Of seventeen ids, two begin with the same of sixteen digits.
    const shared = ids.map((id) => id.slice(0, 1)).find((digit, index, all) => all.indexOf(digit) !== index) ?? ''
    const several = await parley(['show', shared], { home })
    expect(several).toMatchObject({ code: 1, stdout: '' })
    expect(several.stderr).toMatch(/^parley: \d+ sessions begin with .*\n$/u)
    const none = await parley(['show', 'zzz'], { home })
    expect(none).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^parley: There is no session zzz\..*\n$/u),
    })
  })
})
