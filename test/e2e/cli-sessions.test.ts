import { describe, expect, test } from 'vitest'
import { endServers, jsonLines, parley, sessionIn, sessionsIn, shareServer } from './cli.ts'

endServers()
const stage = shareServer()

describe.concurrent('parley new', () => {
  test.concurrent('prints the id of a session that can be gone on with', async () => {
    const run = await stage({ chunk: 'Hi.' })
    const { code, stdout, stderr } = await parley(['new'], run)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const id = stdout.trim()
    expect(await parley(['run', '--session', id, 'hello'], run)).toMatchObject({ code: 0, stdout: 'Hi.\n' })
    expect(await sessionsIn(run)).toMatchObject([{ sessionId: id, title: 'hello' }])
  })

  test.concurrent('--json prints one SessionInfo', async () => {
    const run = await stage()
    const { stdout } = await parley(['new', '--json'], run)
    expect(jsonLines(stdout)).toEqual([
      {
        _meta: expect.any(Object),
        sessionId: expect.any(String),
        cwd: run.cwd,
        updatedAt: expect.stringMatching(/^\d{4}-.*Z$/u),
      },
    ])
  })

  test.concurrent('keeps the agent that it was given', async () => {
    const run = await stage({ chunk: 'From the script.' })
    const id = (await parley(['new'], run)).stdout.trim()
    const { home, cwd } = run
    expect(await parley(['run', '--session', id, 'hello'], { home, cwd })).toMatchObject({
      stdout: 'From the script.\n',
    })
  })
})

describe.concurrent('parley rename', () => {
  test.concurrent('gives another title', async () => {
    const run = await stage()
    const id = await sessionIn(run)
    expect(await parley(['rename', id.slice(0, 8), 'Über 标题'], run)).toEqual({
      code: 0,
      signal: null,
      stdout: '',
      stderr: '',
    })
    expect(await sessionsIn(run)).toMatchObject([{ sessionId: id, title: 'Über 标题' }])
  })

  test.concurrent('an empty title is wrong usage, exit 2', async () => {
    expect(await parley(['rename', 'x', ' '], await stage())).toMatchObject({ code: 2 })
  })
})

describe.concurrent('parley fork', () => {
  test.concurrent('starts a session that begins as the first one, which stays as it is', async () => {
    const run = await stage({ chunk: 'Hi.' })
    const id = await sessionIn(run)
    await parley(['run', '--session', id, 'one'], run)
    const before = (await parley(['show', '--json', id], run)).stdout
    const { code, stdout } = await parley(['fork', id], run)
    expect(code).toBe(0)
    const fork = stdout.trim()
    await parley(['run', '--session', fork, 'two'], run)
    expect((await parley(['show', fork], run)).stdout).toMatch(/› one\n\nHi\.\n[^]*› two\n\nHi\.\n$/u)
    expect((await parley(['show', '--json', id], run)).stdout).toBe(before)
  })

  test.concurrent('--up-to says how far, and --json prints its SessionInfo', async () => {
    const run = await stage({ chunk: 'Hi.' })
    const id = await sessionIn(run)
    await parley(['run', '--session', id, 'one'], run)
    const seq = lastSeq((await parley(['show', '--json', id], run)).stdout)
    await parley(['run', '--session', id, 'two'], run)
    const { code, stdout } = await parley(['fork', id, '--up-to', String(seq), '--json'], run)
    expect(code).toBe(0)
    const [info] = jsonLines(stdout)
    expect(info).toMatchObject({ cwd: run.cwd })
    const { stdout: shown } = await parley(['show', String(info?.['sessionId'])], run)
    expect(shown).toContain('› one')
    expect(shown).not.toContain('› two')
  })

  test.concurrent.each(['0', 'x'])('--up-to %j is wrong usage, exit 2', async (at) => {
    expect(await parley(['fork', 'x', `--up-to=${at}`], await stage())).toMatchObject({ code: 2, stdout: '' })
  })

  test.concurrent('an entry that is not there is one clear line, exit 1', async () => {
    const run = await stage()
    const { code, stderr } = await parley(['fork', await sessionIn(run), '--up-to', '999'], run)
    expect(code).toBe(1)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe.concurrent('parley close', () => {
  test.concurrent('ends what runs, and the session can be opened again', async () => {
    const run = await stage({ chunk: 'Hi.' })
    const [one, two] = [await sessionIn(run), await sessionIn(run)]
    expect(await parley(['close', one, two, one.slice(0, 9)], run)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect((await sessionsIn(run)).map(({ _meta }) => _meta)).toEqual([
      expect.objectContaining({ 'parley/phase': 'closed' }),
      expect.objectContaining({ 'parley/phase': 'closed' }),
    ])
    expect(await parley(['run', '--session', one, 'hello'], run)).toMatchObject({ code: 0, stdout: 'Hi.\n' })
  })

  test.concurrent('closes nothing when one of the ids is not to be found', async () => {
    const run = await stage()
    const id = await sessionIn(run)
    expect(await parley(['close', id, 'zzz'], run)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^parley: There is no session zzz\..*\n$/u),
    })
    expect(await sessionsIn(run)).toMatchObject([{ _meta: { 'parley/phase': 'idle' } }])
  })
})

describe.concurrent('parley rm', () => {
  test.concurrent('deletes for good, but not without being asked where nobody can be', async () => {
    const run = await stage()
    const [one, two] = [await sessionIn(run), await sessionIn(run)]
    expect(await parley(['rm', one], run)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect(await parley(['rm', '--yes', one, 'zzz'], run)).toMatchObject({ code: 1 })
    expect(await sessionsIn(run)).toHaveLength(2)
    expect(await parley(['rm', '--yes', one], run)).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await sessionsIn(run)).toMatchObject([{ sessionId: two }])
  })
})

function lastSeq(stdout: string): number {
  const last = jsonLines(stdout).at(-1) as { readonly _meta: { readonly 'parley/seq': number } }
  return last._meta['parley/seq']
}
