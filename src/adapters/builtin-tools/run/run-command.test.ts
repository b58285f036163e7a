/** Commands return their output and how they ended, and never outlive the turn or session that may have started them. */
import { symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Terminal, TerminalCommand } from '../../../ports/client-peer.ts'
import { PerTest } from '../../../../test/fixtures/process/per-test.ts'
import type { Clock } from '../../../ports/clock.ts'
import { systemClock } from '../../clock.ts'
import { runs, until } from '../../../../test/fixtures/process/running.ts'
import { type Stage, openStage, textOf } from '../../../../test/fixtures/tools/stage.ts'

const stages = new PerTest<Stage>(async (opened) => {
  for (const stage of opened) await stage.close()
})
stages.closeAfterEach()

async function openedStage(setting?: Parameters<typeof openStage>[0]): Promise<Stage> {
  const stage = await openStage(setting)
  stages.add(stage)
  return stage
}

async function pidOf(stage: Stage, id: string): Promise<number> {
  let said = ''
  await until(async () => pidsIn((said += await stage.say('command_output', { id }))).length > 0)
  return pidsIn(said)[0] ?? 0
}

function pidsIn(text: string): readonly number[] {
  return [...text.matchAll(/pid (\d+)/gu)].map(([, pid]) => Number(pid))
}

/** A clock whose timers of so long end when the test says so. */
function endedByTest(ms: number) {
  const ends: (() => void)[] = []
  const setTimer: Clock['setTimer'] = (given, run) => {
    if (given !== ms) return systemClock.setTimer(given, run)
    ends.push(run)
    return { cancel: () => undefined }
  }
  return { clock: { ...systemClock, setTimer }, end: () => ends.splice(0).forEach((run) => run()) }
}

const run = (stage: Stage, command: string, more = {}) => stage.say('run_command', { command, ...more })

async function effectOf(stage: Stage, command: string): Promise<string | undefined> {
  const preview = await stage.preview('run_command', { command })
  return preview.command?.effect
}

describe.concurrent('a command', () => {
  test('returns its output and its exit status', async () => {
    const stage = await openedStage({
      files: { 'd/a.txt': 'A' },
      environment: { ...process.env, ANTHROPIC_API_KEY: 'secret' },
    })
    expect(await run(stage, 'cat a.txt; echo; echo err >&2', { cwd: 'd' })).toBe('A\nerr')
    expect(await run(stage, 'true')).toBe('[It printed nothing.]\n[Exit code 0.]')
    expect(await run(stage, 'echo x; exit 3')).toBe('Error: x\n[Exit code 3.]')
    expect(await run(stage, 'kill -9 $$')).toContain('[It was ended by SIGKILL.]')
    expect(await run(stage, 'cat; env')).not.toContain('secret')
    expect(await run(stage, 'ls', { cwd: '..' })).toContain('outside the directories')
    expect(await run(stage, 'ls', { cwd: 'no' })).toContain('Error: ')
    expect(await run(stage, 'echo a\0b')).toBe('Error: A command cannot hold a NUL character.')
  })

  test('with long output returns its beginning and its end; the rest can be read', async () => {
    const stage = await openedStage()
    const result = await stage.call('run_command', { command: 'seq 1 40000' })
    const brief = textOf(result)
    expect(brief.length).toBeLessThan(31_000)
    expect(brief).toMatch(/^1\n2\n/u)
    expect(brief).toMatch(/40000$/u)
    const [, id = '', offset = ''] = /toolCallId "(\w+)", offset (\d+)/u.exec(brief) ?? []
    const more = await stage.say('read_result', { toolCallId: id, offset: Number(offset) })
    const whole = result.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    expect(more.slice(0, 20_000)).toBe(whole.slice(Number(offset), Number(offset) + 20_000))
    expect(more).toMatch(/read on with offset=\d+\]$/u)
    expect(await stage.say('read_result', { toolCallId: 'none' })).toContain('There is no result')
  })

  test('shows its output while it runs', async () => {
    const stage = await openedStage({ files: {} })
    const call = stage.call('run_command', { command: 'echo begun; until [ -e go ]; do sleep 0.05; done; echo done' })
    await until(() => JSON.stringify(stage.reports).includes('begun'))
    await stage.write({ go: '' })
    expect(textOf(await call)).toBe('begun\ndone')
  })

  test.each(['cancelled', 'late'])('that is %s ends with all processes that it started', async (why) => {
    const { clock, end } = endedByTest(2_000)
    const stage = await openedStage({ clock })
    const abort = new AbortController()
    const command =
      'trap "" TERM; echo pid $$; (setsid sh -c "trap \\"\\" TERM; echo pid \\$\\$; sleep 300") & sleep 300'
    const timeout = why === 'late' ? 3 : 300
    const call = stage.call('run_command', { command, timeout }, { signal: abort.signal })
    await until(() => pidsIn(JSON.stringify(stage.reports)).length >= 2)
    if (why === 'cancelled') abort.abort()
    else end()
    const said = textOf(await call)
    expect(said).toContain(why === 'late' ? 'did not end within 3 seconds' : 'It was cancelled and stopped.')
    expect(pidsIn(said).length).toBeGreaterThanOrEqual(2)
    // One that left the group is killed too; the kernel takes a moment.
    for (const pid of pidsIn(said)) await until(() => !runs(pid))
  })

  test('in the background is read, waited for and stopped, and ends with its session', async () => {
    const stage = await openedStage()
    const other = stage.open()
    const command = 'echo pid $$; until [ -e go ]; do sleep 0.05; done; echo done; exit 4'
    expect(await stage.say('run_command', { command, background: true })).toContain('as b1')
    await pidOf(stage, 'b1')
    expect(await stage.say('command_output', { id: 'b1' })).toContain('still runs.]')
    await stage.write({ go: '' })
    expect(await stage.say('command_output', { id: 'b1', wait: 60 })).toBe('done\n[It has ended with exit code 4.]')
    expect(await stage.say('command_output', { id: 'b1' })).toContain('[Nothing new.]')
    expect(await stage.say('command_output', { id: 'b9' })).toContain('there are: b1.')
    for (const _each of ['b2', 'b3']) await run(stage, 'echo pid $$; exec sleep 300', { background: true })
    const [stopped, kept] = [await pidOf(stage, 'b2'), await pidOf(stage, 'b3')]
    // It is killed soon after it was asked to end, and on a busy machine before it has seen that.
    expect(await stage.say('command_output', { id: 'b2', stop: true })).toMatch(
      /\[It was ended by SIG(?:TERM|KILL)\.\]/u,
    )
    expect([runs(stopped), runs(kept)]).toEqual([false, true])
    await stage.registry.close()
    expect(runs(kept)).toBe(true)
    await other.close()
    expect(runs(kept)).toBe(false)
  })

  test('in the background whose processes leave its group ends them when its session is closed', async () => {
    const stage = await openedStage()
    const leaves = `setsid sh -c 'trap "" TERM HUP; echo pid $$; while :; do setsid sleep 0.05; done' &`
    await stage.call('run_command', { command: `${leaves} sleep 300`, background: true })
    await stage.call('run_command', { command: `${leaves} until [ -e go ]; do sleep 0.05; done`, background: true })
    const pids = [await pidOf(stage, 'b1'), await pidOf(stage, 'b2')]
    await stage.write({ go: '' })
    expect(runs(pids[0] ?? 0)).toBe(true)
    await stage.registry.close()
    for (const pid of pids) await until(() => !runs(pid))
  })

  test('in the background is dropped from the list when many others have ended after it', async () => {
    const stage = await openedStage()
    for (let at = 1; at <= 10; at += 1) {
      await run(stage, `echo ${at}`, { background: true })
      expect(await stage.say('command_output', { id: `b${at}`, wait: 60 })).toContain('exit code 0')
    }
    await run(stage, 'exec sleep 300', { background: true })
    const said = await stage.say('command_output', { id: 'b1' })
    expect(said).toContain('there are: b3, b4, b5, b6, b7, b8, b9, b10, b11.')
    expect(await stage.say('command_output', { id: 'b3' })).toContain('exit code 0')
  })

  test('is previewed with the prefix that “always allow” would cover', async () => {
    const stage = await openedStage()
    expect(await stage.preview('run_command', { command: 'npm test -- x' })).toMatchObject({
      title: 'Run npm test -- x',
      kind: 'execute',
      command: { line: 'npm test -- x', approvalPrefix: 'npm test', effect: 'changes', extras: [], isDeep: false },
      paths: [stage.dir],
    })
    expect(await effectOf(stage, 'rm -rf x')).toBe('destroys')
  })

  test('is previewed as reading where it is known to only read, inside the directories of the session', async () => {
    const stage = await openedStage({ files: { 'a.txt': '', 'd/b.txt': '' } })
    symlinkSync('/etc', stage.path('away'))
    const reads = ['cat a.txt', 'ls -la d && wc -l < a.txt', 'git diff HEAD -- d', 'grep -rn x d | sort | uniq -c']
    for (const line of reads) expect([line, await effectOf(stage, line)]).toEqual([line, 'reads'])
    for (const line of ['cat /etc/passwd', 'cat ../x', 'cat away/passwd', 'cat ~/x', 'cat $X', 'cd .. && ls'])
      expect([line, await effectOf(stage, line)]).toEqual([line, 'changes'])
  })

  test('is previewed with the paths in its words, however they are spelled', async () => {
    const stage = await openedStage({ files: { 'a.txt': '' } })
    symlinkSync('/etc', stage.path('away'))
    const places = async (command: string) => {
      const { command: previewed } = await stage.preview('run_command', { command })
      return previewed?.pathPatterns
    }
    for (const line of [
      'cat /etc/passwd',
      'cat ../../../../../../../etc/passwd',
      'cat away/passwd',
      'cat /proc/self/root/etc/passwd',
      'cat "/etc"/pass\'wd\'',
      'cat < /etc/passwd',
      'cat --file=/etc/passwd',
      'curl -d @/etc/passwd x',
      'cd / && cat etc/passwd',
      'cd away; cat passwd',
      'X=/etc/passwd; cat $X',
      `sh -c 'cat /etc/passwd'`,
      `for f in /etc/passwd; do cat "$f"; done`,
    ])
      expect([line, await places(line)]).toEqual([line, expect.arrayContaining(['/etc/passwd'])])
    expect(await places('cat /e*/passw?')).toContain('/e*/passw*')
    expect(await places('cat ~/x')).toContain(join(homedir(), 'x'))
    expect(await places('cat "$HOME/x"')).toContain(join(homedir(), 'x'))
    expect(await places('cat /etc/$X/y')).toContain('/etc/**/y')
  })
})

describe.concurrent('a terminal of the client', () => {
  function terminals(end: Promise<{ exitCode: number; signal: null }>, saysTwice = true) {
    const told: unknown[] = []
    const terminal: Terminal = {
      id: 'term1',
      toolCallId: 'c1',
      output: async () => ({
        output: '\u001B[1mhello\u001B[0m\r\n',
        truncated: false,
        ...(saysTwice && { exit: { exitCode: 0, signal: null } }),
      }),
      waitForExit: () => end,
      kill: async () => void told.push('kill'),
      release: async () => void told.push('release'),
    }
    const create = async (command: TerminalCommand) => {
      told.push(command)
      return terminal
    }
    return { told, terminals: { create } }
  }

  test.each([true, false])('runs the command, and returns output and exit status (said twice: %s)', async (twice) => {
    const { told, terminals: lent } = terminals(Promise.resolve({ exitCode: 0, signal: null }), twice)
    const stage = await openedStage({ client: { terminals: lent } })
    const result = await stage.call('run_command', { command: 'echo hello' })
    expect(textOf(result)).toBe('hello')
    expect(result.displayContent).toEqual([{ type: 'terminal', terminalId: 'term1', output: 'hello' }])
    expect(stage.reports).toEqual([{ content: [{ type: 'terminal', terminalId: 'term1' }] }])
    expect(told).toEqual([expect.objectContaining({ args: ['-c', 'echo hello'], cwd: stage.dir }), 'release'])
  })

  test('is killed when the time is over', async () => {
    const { told, terminals: lent } = terminals(new Promise(() => {}))
    const stage = await openedStage({ client: { terminals: lent } })
    expect(await run(stage, 'sleep 9', { timeout: 1 })).toContain('did not end within 1 seconds')
    expect(told.slice(1)).toEqual(['kill', 'release'])
  })
})
