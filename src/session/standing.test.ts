/**
 * Rules, modes and answers in a live session: which calls run, which ask, what the journal stores, and what remains after
 * a restart.
 */
import { describe, expect, test } from 'vitest'
import type { ToolPreview } from '../ports/tools.ts'
import { quiet } from '../../test/sim/clock.ts'
import { House, prompted } from '../../test/sim/house.ts'
import { signal } from '../../test/sim/puppet.ts'
import { answer } from '../../test/sim/words.ts'
import type { Modes, PermissionModeId } from '../ports/values/settings.ts'
import { ALWAYS_IN_PROJECT, NEVER_IN_PROJECT } from './domain/permission-answer.ts'
import type { Entry } from './domain/entries.ts'
import type { Session } from './session.ts'
import { openQuestions } from './domain/state.ts'

const command = (line: string): ToolPreview => ({
  kind: 'execute',
  command: { line, approvalPrefix: line, effect: 'changes', extras: [], pathPatterns: [], isDeep: false },
})

/** A session whose agent runs `run_command` each time it is prompted, as often as `calls` says. */
async function working({
  preview = command('npm test'),
  mode,
  calls = 1,
}: { preview?: ToolPreview; mode?: PermissionModeId; calls?: number } = {}) {
  const house = new House()
  const results: unknown[] = []
  house.tools.add('run_command', async () => ({ content: [], isError: false }), { builtin: true })
  const tool = house.tools.tools.get('run_command')
  if (tool !== undefined) tool.preview = preview
  if (mode !== undefined) house.agent.modes = modesAt(mode)
  house.agent.script = async (turn) => {
    if (turn.resumed !== undefined) {
      for (const { toolCallId } of turn.resumed.calls)
        results.push(await turn.call({ name: 'run_command', args: {}, permission: 'granted', toolCallId }))
      return 'end_turn'
    }
    const call = () => turn.call({ name: 'run_command', args: {}, permission: 'policy', resume: null })
    results.push(...(await Promise.all(Array.from({ length: calls }, call))))
    return 'end_turn'
  }
  return { house, results, ...(await house.open()) }
}

function modesAt(currentModeId: PermissionModeId): Modes {
  return { currentModeId, availableModes: ['ask', 'plan', 'allow-all'].map((id) => ({ id, name: id })) }
}

function question({ state }: Session): string {
  return openQuestions(state)[0]?.requestId ?? 'none'
}

function verdicts(entries: readonly Entry[]): readonly unknown[] {
  return entries.flatMap((entry) => {
    const permission =
      entry.kind === 'tool_call'
        ? entry.call.permission
        : entry.kind === 'tool_call_patched'
          ? entry.patch.permission
          : undefined
    return permission ?? []
  })
}

describe('a tool call under rules and modes', () => {
  test('that cannot run asks no user, and its agent gets the reason', async () => {
    const { house, session, reader, results } = await working({
      preview: { ...command('npm test'), cannotRunReason: 'Read a.txt with read_file first.' },
    })
    await prompted(session, 'p1')
    expect(house.tools.called).toEqual([])
    expect(reader.kinds).not.toContain('permission_requested')
    expect(results).toEqual([{ content: [{ type: 'text', text: 'Read a.txt with read_file first.' }], isError: true }])
    expect(verdicts(reader.entries)).toEqual([])
  })

  test('that a rule allows runs without a question, and the journal names the rule', async () => {
    const { house, session, reader } = await working()
    house.rules.rules = [{ effect: 'allow', subject: { command: 'npm test' }, origin: 'of your parley.toml' }]
    await prompted(session, 'p1')
    expect(house.tools.called).toEqual(['run_command'])
    const why = 'rule “allow command npm test” of your parley.toml'
    expect(verdicts(reader.entries)).toEqual([{ decision: 'allow', by: 'rule', why }])
    expect(reader.kinds.filter((kind) => kind.startsWith('tool_call'))).toHaveLength(3)
  })

  test('that a rule denies does not run, not even with a stored answer', async () => {
    const { house, session, results, reader } = await working({ mode: 'allow-all' })
    house.rules.rules = [{ effect: 'deny', subject: { tool: 'run_*' }, origin: 'of your parley.toml' }]
    await prompted(session, 'p1')
    house.agent.script = async (turn) => {
      results.push(await turn.call({ name: 'run_command', args: {}, permission: 'granted' }))
      return 'end_turn'
    }
    await prompted(session, 'p2')
    expect(house.tools.called).toEqual([])
    expect(results).toMatchObject([{ isError: true }, { isError: true }])
    expect(JSON.stringify(results)).toContain('Not allowed: rule “deny tool run_*” of your parley.toml.')
    expect(verdicts(reader.entries)).toMatchObject([{ decision: 'deny' }, { decision: 'deny' }])
  })

  test('that a rule denies stores nothing of the change that it would have made', async () => {
    const content = [{ type: 'diff', path: '/work/secret', oldText: 'code 4711', newText: '' }] as const
    const { house, session, reader } = await working({ preview: { kind: 'edit', paths: ['/work/secret'], content } })
    house.rules.rules = [{ effect: 'deny', subject: { tool: 'run_*' }, origin: 'of your parley.toml' }]
    await prompted(session, 'p1')
    expect(verdicts(reader.entries)).toMatchObject([{ decision: 'deny' }])
    expect(JSON.stringify(reader.entries)).not.toContain('4711')
  })

  test('in plan mode is refused with a sentence for the model, until the mode is another', async () => {
    const { house, session, results } = await working({ mode: 'plan' })
    await prompted(session, 'p1')
    expect(results).toMatchObject([{ isError: true }])
    expect(JSON.stringify(results)).toContain('plan mode, where nothing is changed')
    await session.dispatch({ kind: 'set_mode', modeId: 'allow-all' })
    await prompted(session, 'p2')
    expect(house.tools.called).toEqual(['run_command'])
  })

  test('that waits for its answer still waits when the mode becomes allow-all; later calls do not ask', async () => {
    const { house, session } = await working({ mode: 'ask', calls: 3 })
    await prompted(session, 'p1')
    await session.dispatch({ kind: 'set_mode', modeId: 'allow-all' })
    await quiet()
    expect(session.state.phase).toBe('waiting')
    await session.dispatch(answer(question(session), 'allow_once'))
    await quiet()
    expect(house.tools.called).toHaveLength(3)
    expect(session.state.phase).toBe('idle')
  })

  test('asks when the rules cannot be read, and the reason is sent once', async () => {
    const { house, session, reader } = await working({ mode: 'allow-all', calls: 2 })
    house.rules.broken = 'Not all rules can be read.'
    await prompted(session, 'p1')
    expect(session.state.phase).toBe('waiting')
    for (const _of of [1, 2]) {
      await session.dispatch(answer(question(session), 'allow_once'))
      await quiet()
    }
    expect(house.tools.called).toHaveLength(2)
    expect(reader.kinds.filter((kind) => kind === 'notice')).toHaveLength(1)
  })
})

describe('an answer “always” or “never”', () => {
  test('in this session covers this command only, also after a restart', async () => {
    const { house, session } = await working()
    await prompted(session, 'p1')
    await session.dispatch(answer(question(session), 'allow_always'))
    await quiet()
    expect(session.existing.grants).toEqual([{ ...npmTest, effect: 'allow' }])
    const next = await house.killed(session)
    next.house.tools.tools.set('run_command', { tool: tool(house), run: done, preview: command('npm test') })
    await prompted(next.session, 'p2')
    expect(next.house.tools.called).toEqual(['run_command'])
    next.house.tools.tools.set('run_command', { tool: tool(house), run: done, preview: command('npm publish') })
    await prompted(next.session, 'p3')
    expect(next.session.state.phase).toBe('waiting')
  })

  test('in this project is stored as a rule before the next call of the same turn, and not in the session', async () => {
    const { house, session, reader } = await working({ calls: 2 })
    const stored = signal()
    house.rules.slow = stored.given
    await prompted(session, 'p1')
    await session.dispatch({
      kind: 'answer',
      requestId: question(session),
      optionId: ALWAYS_IN_PROJECT,
      by: 'zed',
    })
    await quiet()
    expect(house.tools.called).toEqual([])
    stored.give()
    await quiet()
    expect(house.tools.called).toHaveLength(2)
    const subject = { tool: 'run_command', definition: 'parley', command: 'npm test' }
    expect(house.rules.remembered).toEqual([{ cwd: '/home/ada', subject }])
    expect(session.existing.grants).toEqual([])
    expect(reader.entries.find(({ kind }) => kind === 'permission_resolved')).toMatchObject({ by: 'zed' })
    expect(verdicts(reader.entries)).toMatchObject([
      { decision: 'ask', by: 'tool' },
      { decision: 'allow', by: 'rule' },
    ])
  })

  test('“never”, in this session and in this project, refuses without a question until it is revoked', async () => {
    const { house, session, results } = await working({ mode: 'ask' })
    await prompted(session, 'p1')
    await session.dispatch(answer(question(session), 'reject_always'))
    await quiet()
    const refused = { ...npmTest, effect: 'deny' } as const
    expect(session.existing.grants).toEqual([refused])
    const next = await house.killed(session)
    next.house.tools.tools.set('run_command', { tool: tool(house), run: done, preview: command('npm test') })
    await prompted(next.session, 'p2')
    expect(next.session.state.phase).toBe('idle')
    expect(JSON.stringify(results)).toContain('the user has said never, for this session')
    await next.house.sessions.revoke(session.id, refused)
    await prompted(next.session, 'p3')
    await next.session.dispatch(answer(question(next.session), NEVER_IN_PROJECT))
    await quiet()
    const subject = { tool: 'run_command', definition: 'parley', command: 'npm test' }
    expect(next.house.rules.rules).toMatchObject([{ effect: 'deny', subject }])
    expect(next.session.existing.grants).toEqual([])
    await prompted(next.session, 'p4')
    expect(next.session.state.phase).toBe('idle')
    expect(next.house.tools.called).toEqual([])
  })

  test('in this project, given after kill -9, is stored as a rule before the call runs, and the call runs once', async () => {
    const { house, session } = await working()
    await prompted(session, 'p1')
    const next = await house.killed(session)
    next.house.tools.tools.set('run_command', { tool: tool(house), run: done, preview: command('npm test') })
    await next.session.dispatch(answer(question(next.session), ALWAYS_IN_PROJECT))
    await quiet()
    expect(next.house.rules.remembered).toHaveLength(1)
    expect(next.house.tools.called).toEqual(['run_command'])
  })

  test('that cannot be stored counts once, and the client is notified', async () => {
    const { house, session, reader } = await working()
    house.rules.trouble = new Error('the disk is full')
    await prompted(session, 'p1')
    await session.dispatch(answer(question(session), ALWAYS_IN_PROJECT))
    await quiet()
    expect(house.tools.called).toEqual(['run_command'])
    expect(reader.entries.find(({ kind }) => kind === 'notice')).toMatchObject({
      text: expect.stringContaining('the disk is full'),
    })
  })

  test('is not offered for a destructive command', async () => {
    const { house, session } = await working({
      preview: { ...command('git push -f'), destroys: true },
      mode: 'allow-all',
    })
    await prompted(session, 'p1')
    await session.dispatch(answer(question(session), 'allow_always'))
    await quiet()
    expect(house.tools.called).toEqual([])
    expect(session.existing.grants).toEqual([])
  })

  test('can be revoked: the next call asks, also after a restart', async () => {
    const { house, session } = await working()
    await prompted(session, 'p1')
    await session.dispatch(answer(question(session), 'allow_always'))
    await quiet()
    await house.sessions.revoke(session.id, { ...npmTest, effect: 'allow' })
    await prompted(session, 'p2')
    expect(session.state.phase).toBe('waiting')
    const next = await house.killed(session)
    expect(next.session.existing.grants).toEqual([])
  })
})

const npmTest = { tool: 'run_command', definition: 'parley', command: 'npm test' }

const done = async () => ({ content: [], isError: false })

function tool(house: House) {
  const found = house.tools.tools.get('run_command')
  if (found === undefined) throw new Error('it has the tool')
  return found.tool
}
