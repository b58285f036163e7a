import { type Server } from 'node:net'
import { describe, expect, test } from 'vitest'
import { socketPathOf } from '../../src/config/socket.ts'
import { PerTest } from '../fixtures/process/per-test.ts'
import {
  type HostedCli,
  type Lodging,
  ask,
  endServers,
  jsonLines,
  killServer,
  parley,
  sessionIn,
  sessionsIn,
  shareServer,
  startHere,
  workIn,
} from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

const slow = { chunk: 'word {n} ', times: 10_000, everyMs: 20 }

endServers()
const stage = shareServer()
/** Of another version than the commands. */
const servers = new PerTest<Server>(async (opened) => {
  for (const server of opened) server.close()
})
servers.closeAfterEach()

/** For tests that end their server. */
async function alone(...steps: readonly Readonly<Record<string, unknown>>[]): Promise<Lodging> {
  const home = freshDirectory()
  return { home, cwd: workIn(home), agent: await scriptAgent(home, steps), socket: socketPathOf(home) }
}

async function idOf(run: Lodging): Promise<string> {
  const sessions = await sessionsIn(run)
  expect(sessions).toHaveLength(1)
  return String(sessions[0]?.['sessionId'])
}

function seqsIn(stdout: string): readonly number[] {
  return jsonLines(stdout).map(({ _meta }) => (_meta as { readonly 'parley/seq': number })['parley/seq'])
}

function wordsIn(stdout: string): readonly string[] {
  return stdout.match(/word \d+/gu) ?? []
}

describe.concurrent('parley attach', () => {
  test.concurrent('joins in the middle of a sentence, goes on with it, and ends when it is told to', async () => {
    const run = await stage(slow)
    const asking = startHere(['run', 'go'], run)
    await asking.until('word 9')
    const attached = startHere(['attach'], run)
    await attached.until('word 15 ')
    attached.signal('SIGTERM')
    const { code, stdout, stderr } = await attached.finished
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^› go\n\nword 1 word 2 word 3 /u)
    const words = wordsIn(stdout)
    expect(words).toEqual(words.map((_, index) => `word ${index + 1}`))
  })

  test.concurrent('--json gives every entry once and in order, however often the server is killed meanwhile', async () => {
    const run = await alone(slow)
    const asking = startHere(['run', '--json', 'go'], run)
    await asking.until('word 3')
    const id = await idOf(run)
    const attached = startHere(['attach', '--json', id.slice(0, 8)], run)
    for (let life = 1; life <= 3; life += 1) {
      if (life === 1) await attached.until('word 9')
      killServer(run.home)
      await untilInterrupted(attached, life)
      const next = startHere(['run', '--session', id, '--json', `again ${life}`], run)
      await attached.until(`again ${life}`)
      await next.until('word 2')
    }
    attached.signal('SIGINT')
    const { code, stdout } = await attached.finished
    expect(code).toBe(0)
    const seqs = seqsIn(stdout)
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    const shown = jsonLines((await parley(['show', '--json', id], run)).stdout)
    const said = wordsIn(stdout)
    expect(said).toEqual(wordsIn(JSON.stringify(shown)).slice(0, said.length))
  })

  test.concurrent('tells of the prompts of others, and ends when the session is closed', async () => {
    const run = await alone({ chunk: 'Hi.' })
    const id = await sessionIn(run)
    const attached = startHere(['attach', id], run)
    const json = startHere(['attach', '--json', id], run)
    await untilClients(run, 2)
    await parley(['run', '--session', id, 'hello'], run)
    await attached.until('Hi.')
    await json.until('Hi.')
    expect(await parley(['close', id], run)).toMatchObject({ code: 0, stderr: '' })
    expect(await attached.finished).toMatchObject({ code: 0, stdout: '› hello\n\nHi.\n', stderr: '' })
    expect((await json.finished).code).toBe(0)
  })

  test.concurrent('leaves the questions of a turn to whoever can answer', async () => {
    const run = await stage({ permission: { title: 'Delete all' } }, { chunk: 'Over.' })
    const id = await sessionIn(run)
    const attached = startHere(['attach', '--json', id], run)
    // Refused by the one who asked, not by the one who looks on.
    const { stderr } = await parley(['run', '--session', id, 'go'], run)
    expect(stderr).toContain('Rejected: Delete all')
    await attached.until('Over.')
    expect(attached.stderr).toBe('')
  })

  test.concurrent('ends with 75 when the server is stopped in order, and does not start it again', async () => {
    const run = await alone({ chunk: 'Hi.' })
    await parley(['run', 'hello'], run)
    const attached = startHere(['attach'], run)
    await attached.until('Hi.')
    await parley(['stop'], run)
    expect(await attached.finished).toMatchObject({ code: 75, stderr: 'parley: The server was stopped.\n' })
    expect(killServer(run.home)).toBe(false)
  })

  test.concurrent('says so where there is no session, exit 1', async () => {
    const run = await stage()
    expect(await parley(['attach'], run)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^parley: There is no session in \/\S+\/work\. .*\n$/u),
    })
    expect(await parley(['attach', 'zzz'], run)).toMatchObject({ code: 1 })
    expect(await parley(['attach', ''], run)).toMatchObject({ code: 2 })
  })
})

describe.concurrent('a prompt in a session that is busy', () => {
  test.concurrent('waits for its turn, shows only its own answer, and says that it waits', async () => {
    const run = await stage({ chunk: 'Hi.' }, { sleepMs: 600_000 })
    const first = startHere(['run', 'one'], run)
    await first.until('Hi.')
    const id = await idOf(run)
    const attached = startHere(['attach', id], run)
    await attached.until('Hi.')
    const second = startHere(['run', '--session', id, 'two'], run)
    await second.untilError('Another turn runs in this session; this prompt waits for its end.\n')
    expect(second.stdout).toBe('')
    first.signal('SIGINT')
    await second.until('Hi.')
    await attached.until('› two')
    expect(attached.stdout).toMatch(/^› one\n\nHi\.\n\n– stopped by parley –\n\n› two/u)
    second.signal('SIGINT')
    expect(await second.finished).toMatchObject({ code: 130, stdout: 'Hi.\n' })
    expect(await first.finished).toMatchObject({ code: 130, stdout: 'Hi.\n' })
    expect(first.stderr).toMatch(/^– stopped –\n/u)
    const { stdout } = await parley(['show', id], run)
    expect(stdout).toMatch(/› one\n\nHi\.\n\n– stopped by parley –\n\n/u)
  })
})

async function untilClients(run: Lodging, count: number): Promise<void> {
  while ((await ask(run, '_parley/status', {}))['clients'] !== count) await new Promise((next) => setTimeout(next, 10))
}

function untilInterrupted(cli: HostedCli, times: number): Promise<void> {
  const count = () => (cli.stdout.match(/Interrupted: the server/gu) ?? []).length
  return cli.untilSo(() => count() >= times, 'interruption')
}
