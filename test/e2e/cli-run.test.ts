import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  Cli,
  type Run,
  endServers,
  jsonLines,
  killServer,
  parley,
  parleyProcess,
  sessionIdIn,
  sessionsIn,
  shareServer,
} from './cli.ts'
import { readPidFile } from '../../src/server/daemon/pid-file.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

const slow = [{ chunk: 'word {n}\n', times: 10_000, everyMs: 20 }]
const question = {
  permission: {
    toolCall: { title: 'Delete \u001b[2Jall', rawInput: {} },
    options: [
      { optionId: 'y', name: 'Allow', kind: 'allow_once' },
      { optionId: 'n', name: 'Reject', kind: 'reject_once' },
    ],
  },
}

/** For tests that end their server or leave a turn behind. */
async function alone(...steps: readonly Readonly<Record<string, unknown>>[]): Promise<Run> {
  const home = freshDirectory()
  return { home, agent: await scriptAgent(home, steps) }
}

endServers()
const stage = shareServer()

describe.concurrent('parley run', () => {
  test.concurrent('its exit code says how the turn ended', async () => {
    const ended = await parley(['run', 'hello'], await stage({ chunk: 'Hi.' }, { end: 'refusal' }))
    expect(ended).toMatchObject({ code: 3, stdout: 'Hi.\n' })
  })

  test.concurrent('an agent that fails exits 1 and says why, in one line', async () => {
    const ended = await parley(['run', 'hello'], await stage({ chunk: 'Hi.' }, { fail: 'the \u001b[31mpump broke' }))
    expect(ended).toMatchObject({ code: 1, stdout: 'Hi.\n' })
    expect(ended.stderr).toMatch(/^parley: The agent failed: the .*pump broke\n$/u)
    expect(ended.stderr).not.toContain('\u001b')
  })

  test.concurrent('stdout has the answer and nothing else; tool calls, the plan and how the agent is set go to stderr', async () => {
    const configOptions = [{ id: 'loud', name: 'Loud', type: 'boolean', currentValue: false }]
    const { code, stdout, stderr } = await parley(
      ['run', 'hello'],
      await stage(
        { agent: { configOptions } },
        { config: { configId: 'loud', value: true } },
        { thought: 'Hm.' },
        { plan: ['Look'] },
        { toolCall: { title: 'Look \u001b]52;c;aGk=\u0007around', status: 'completed' } },
        { chunk: '**软RAID**\u001b[2J done' },
      ),
    )
    expect({ code, stdout }).toEqual({ code: 0, stdout: '**软RAID** done\n' })
    expect(stderr).toBe('Loud: true\n  ○ Look\n✓ Look around\n')
  })

  test.concurrent('--json prints the params of every update, then how the turn ended', async () => {
    const { code, stdout } = await parley(
      ['run', '--json', 'hello'],
      await stage({ chunk: 'Hi.' }, { toolCall: { title: 'Look' } }, { end: 'max_tokens' }),
    )
    const lines = jsonLines(stdout)
    expect(code).toBe(4)
    expect(lines.at(-1)).toEqual({ stopReason: 'max_tokens' })
    const updates = lines.slice(0, -1)
    expect(updates).toMatchObject([
      { update: { sessionUpdate: 'session_info_update', title: 'hello' } },
      { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Hi.' } } },
      { update: { sessionUpdate: 'tool_call', title: 'Look', status: 'completed' } },
    ])
    for (const params of updates) {
      expect(params).toMatchObject({
        sessionId: updates[0]?.['sessionId'],
        _meta: { 'parley/seq': expect.any(Number) },
      })
    }
  })

  test.concurrent('a permission is refused where nobody can be asked, and that is said', async () => {
    const { code, stdout, stderr } = await parley(['run', 'go'], await stage(question, { chunk: 'Over.' }))
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Over.\n' })
    expect(stderr).toBe(
      'Rejected: Delete all (there is no terminal to ask on; parley rules add allows it beforehand)\n✗ Delete all\n',
    )
  })

  test.concurrent('an agent whose script is not there is named in one sentence', async () => {
    const { home, cwd } = await stage()
    const absent = join(cwd, 'absent.jsonl')
    const ended = await parley(['run', 'go', '--agent', `script:${absent}`], { home, cwd })
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toBe(`parley: The script ${absent} cannot be read: there is no such file.\n`)
  })

  test.concurrent('--session goes on with a session, by the beginning of its id, wherever it is called', async () => {
    const run = await stage({ chunk: 'Hi.' })
    const id = sessionIdIn((await parley(['run', 'one', '--json'], run)).stdout)
    const second = await parley(['run', 'two', '--session', id.slice(0, 6), '--json'], { ...run, cwd: '/' })
    expect(jsonLines(second.stdout).at(-1)).toEqual({ stopReason: 'end_turn' })
    expect(sessionIdIn(second.stdout)).toBe(id)
    const { stdout } = await parley(['show', id], run)
    expect(stdout).toMatch(/› one\n\nHi\.\n\n\(entry \d+\)\n› two\n\nHi\.\n$/u)
  })

  test.concurrent('--cwd says where the session works', async () => {
    const { home, cwd, agent } = await stage({ chunk: 'Hi.' })
    const elsewhere = join(realpathSync(cwd), 'elsewhere')
    mkdirSync(elsewhere)
    await parley(['run', 'one', '--cwd', elsewhere, '--agent', agent], { home, cwd })
    expect(await sessionsIn({ home, cwd: elsewhere })).toMatchObject([{ cwd: elsewhere, title: 'one' }])
  })

  test.concurrent.each([
    ['a session that does not exist', ['run', 'x', '--session', 'zzz'], /^parley: There is no session zzz\./u],
    ['an agent that does not exist', ['run', 'x', '--agent', 'oracle'], /^parley: There is no agent "oracle"\./u],
    [
      'a directory that is not there',
      ['run', 'x', '--cwd', '/gone'],
      /^parley: cwd \/gone is not a readable directory/u,
    ],
  ])('%s is one clear line, exit 1', async (_name, args, says) => {
    const { home, cwd } = await stage()
    const { code, stderr } = await parley(args, { home, cwd })
    expect(code).toBe(1)
    expect(stderr).toMatch(says)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

test.concurrent('a state directory that cannot be made is refused at once, in one clear line, exit 1', async () => {
  const env = { PARLEY_HOME: '/proc/parley/home' }
  const { code, stdout, stderr } = await parley(['run', 'x'], { home: freshDirectory(), env })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^parley: The Parley server could not be started: ENOENT.*\n$/u)
})

describe.concurrent('stopping', () => {
  test.concurrent('Ctrl-C cancels the turn: what was said is there, exit 130', async () => {
    const cli = new Cli(['run', '--json', 'go'], await stage(...slow))
    await cli.until('word 2')
    cli.child.kill('SIGINT')
    const { code, stdout } = await cli.finished
    expect(code).toBe(130)
    expect(jsonLines(stdout).at(-1)).toEqual({ stopReason: 'cancelled' })
  })

  test.concurrent('a second Ctrl-C does not wait for the end of what it has cancelled', async () => {
    const run = await alone({ chunk: 'Hi.\n' }, { sleepMs: 600_000 })
    const cli = new Cli(['run', 'go'], run)
    await cli.until('Hi.')
    // Stopped, the server cannot answer the first.
    const pid = readPidFile(run.home)?.pid ?? 0
    process.kill(pid, 'SIGSTOP')
    cli.child.kill('SIGINT')
    await untilTaken(cli.child.pid ?? 0)
    cli.child.kill('SIGINT')
    expect(await cli.finished).toMatchObject({ code: 130, signal: null })
  })

  test.concurrent('SIGTERM ends the command and not the turn, exit 75', async () => {
    const run = await stage(...slow)
    const cli = new Cli(['run', 'go'], run)
    await cli.until('word 2')
    cli.child.kill('SIGTERM')
    expect(await cli.finished).toMatchObject({ code: 75, signal: null, stderr: '' })
    expect(await sessionsIn(run)).toMatchObject([{ _meta: { 'parley/phase': 'working' } }])
    expect((await parley(['ls', '--cwd', run.cwd], run)).stdout).toMatch(/^[0-9a-f]{8} ● /u)
  })

  test.concurrent('with --embedded, SIGTERM interrupts the turn and closes cleanly, exit 75', async () => {
    const run = await alone(...slow)
    const cli = new Cli(['run', 'go', '--embedded', '--json'], run)
    await cli.until('word 2')
    cli.child.kill('SIGTERM')
    expect(await cli.finished).toMatchObject({ code: 75, signal: null, stderr: '' })
    expect(readPidFile(run.home)).toBeUndefined()
    expect((await parley(['show', sessionIdIn(cli.stdout)], run)).stdout).toContain('Interrupted')
  })

  test.concurrent('a server that is killed in the middle of the turn: what was said is there, and it says interrupted, exit 75', async () => {
    const run = await alone(...slow)
    const cli = new Cli(['run', '--json', 'go'], run)
    await cli.until('word 5')
    expect(killServer(run.home)).toBe(true)
    const { code, stdout, stderr } = await cli.finished
    expect(code).toBe(75)
    expect(stderr).toMatch(/^parley: The turn was interrupted because the server stopped\..*\n$/u)
    const said = jsonLines(stdout)
    const seqs = said.map(({ _meta }) => (_meta as { readonly 'parley/seq': number })['parley/seq'])
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    // Whatever was stored was told, and nothing twice.
    const shown = jsonLines((await parley(['show', '--json', sessionIdIn(stdout)], run)).stdout)
    const words = (lines: readonly object[]) => JSON.stringify(lines).match(/word \d+/gu) ?? []
    expect(words(said)).toEqual(words(shown))
    expect(new Set(words(said)).size).toBe(words(said).length)
  })

  test.concurrent('a reader that leaves ends it quietly', async () => {
    const cli = new Cli(['run', 'go'], await stage(...slow))
    await cli.until('word 2')
    cli.child.stdout.destroy()
    expect(await cli.finished).toMatchObject({ code: 0, signal: null, stderr: '' })
  })

  test.concurrent('state that another process owns is refused with its pid, exit 75, but can be looked at', async () => {
    const run = await alone(...slow)
    const owner = new Cli(['run', 'go', '--embedded', '--json'], run)
    await owner.until('word 2')
    const refused = await parley(['run', 'me too'], run)
    expect(refused.code).toBe(75)
    expect(refused.stderr).toMatch(new RegExp(`^parley: .*pid ${owner.child.pid}\\b.*\n$`, 'u'))
    const { code, stdout } = await parley(['show', sessionIdIn(owner.stdout)], run)
    expect(code).toBe(0)
    expect(stdout).toMatch(/› go\n\nword 1\n[^]*\(Not finished: the turn is still running\.\)\n$/u)
    owner.child.kill('SIGKILL')
    await owner.finished
  })
})

describe.concurrent('parley with prompts from a pipe', () => {
  test.concurrent('answers each line in order, in one session, and exits 0', async () => {
    const run = await stage({ chunk: 'Hi.' })
    const { code, stdout, stderr } = await parley([], run, 'one\n\n两\n')
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'Hi.\nHi.\n', stderr: '' })
    const [session] = await sessionsIn(run)
    const { stdout: shown } = await parley(['show', String(session?.['sessionId'])], run)
    expect(shown).toMatch(/› one\n\nHi\.\n\n\(entry \d+\)\n› 两\n\nHi\.\n$/u)
  })

  test.concurrent('leaves none of its pipes to the server that it has started', async () => {
    const run = await alone({ chunk: 'Hi.' })
    // `finished` is when the last holder of its pipes has closed them.
    expect(await parleyProcess([], run, 'one\n')).toMatchObject({ code: 0, stdout: 'Hi.\n', stderr: '' })
    expect(readPidFile(run.home)).toMatchObject({ isServer: true })
  })

  test.concurrent('goes on with the newest session of the directory, and shows nothing of its past', async () => {
    const run = await stage({ chunk: 'Hi.' })
    await parley([], run, 'one\n')
    expect(await parley([], run, 'two')).toMatchObject({ code: 0, stdout: 'Hi.\n' })
    const elsewhere = await stage({ chunk: 'Hi.' })
    expect(await parley(['--cwd', elsewhere.cwd], run, 'elsewhere\n')).toMatchObject({ code: 0 })
    expect(await sessionsIn(run)).toMatchObject([{ title: 'one' }])
    expect(await sessionsIn(elsewhere)).toMatchObject([{ title: 'elsewhere' }])
  })

  test.concurrent('exits with the worst of its ends', async () => {
    expect((await parley([], await stage({ fail: 'no' }), 'one\ntwo\n')).code).toBe(1)
  })

  test.concurrent.each(['', '\n \n'])(
    'without a prompt (%j) is one clear error, and makes no session',
    async (input) => {
      const run = await stage({ chunk: 'Hi.' })
      const refused = await parley([], run, input)
      expect(refused).toMatchObject({ code: 2, stdout: '' })
      expect(refused.stderr).toMatch(
        /^parley: The setting PROMPT cannot be "": standard input has no line with a word\.\n$/u,
      )
      expect(await sessionsIn(run)).toEqual([])
    },
  )

  test.concurrent('Ctrl-C cancels the turn and drops the lines that are left', async () => {
    const cli = new Cli([], await stage(...slow))
    cli.child.stdin.write('one\ntwo\n')
    await cli.until('word 2')
    cli.child.kill('SIGINT')
    expect(await cli.finished).toMatchObject({ code: 130, stderr: '– stopped –\n' })
  })
})

/** Two signals that wait together are one. */
async function untilTaken(pid: number): Promise<void> {
  const status = `/proc/${pid}/status`
  while (existsSync(status) && !/^ShdPnd:\s*0+$/mu.test(readFileSync(status, 'utf8'))) await new Promise(setImmediate)
}
