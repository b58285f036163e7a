/** No tool call is repeated without a request: its start is stored before its first effect, and every outcome is published. */
import { describe, expect, test } from 'vitest'
import type { ToolRequest } from '../../ports/agent.ts'
import type { Tool, ToolResult } from '../../ports/tools.ts'
import { ParleyError } from '../../errors/parley-error.ts'
import { quiet } from '../../../test/sim/clock.ts'
import { House, here, prompted } from '../../../test/sim/house.ts'
import { signal } from '../../../test/sim/puppet.ts'
import type { Run } from '../../../test/sim/tools.ts'
import { answer, cancel, text } from '../../../test/sim/words.ts'
import type { Entry } from '../domain/entries.ts'
import type { Session } from '../session.ts'

const found: ToolResult = { content: [text('Found it.')], structured: { total: 1 }, isError: false }
const trusted: Partial<Tool> = { builtin: true, readOnly: true }
const request: ToolRequest = { name: 'docs__search', args: { query: 'x' }, permission: 'policy' }

const wayFaults = [
  new ParleyError('TOOL_NOT_RUN', { tool: 't', reason: 'the server is gone' }),
  new ParleyError('TOOL_LOST', { tool: 't', reason: 'the server died' }),
] as const

/** A session whose agent calls `docs__search`, and what it got. */
async function calling(run: Run, claims: Partial<Tool> = trusted, call = request) {
  const house = new House()
  const results: unknown[] = []
  house.tools.add('docs__search', run, claims)
  house.agent.script = async (turn) => {
    results.push(await turn.call(call).catch((error: unknown) => error))
    return 'end_turn'
  }
  return { house, results, ...(await house.open()) }
}

function statuses(entries: readonly Entry[]): readonly unknown[] {
  return entries.flatMap((entry) => {
    if (entry.kind === 'tool_call') return [entry.call.status]
    return entry.kind === 'tool_call_patched' ? [entry.patch.status] : []
  })
}

function question({ state }: Session): string {
  return state.phase === 'waiting' ? (state.questions[0]?.requestId ?? '') : 'none'
}

describe('a tool call', () => {
  test('of an unknown tool is refused with the name of the server that is still connecting', async () => {
    const { house, session, reader } = await calling(async () => found, trusted, { ...request, name: 'missing' })
    const mcpServers = [{ type: 'stdio', name: 'silent', command: '/x', args: [], env: {} }] as const
    await house.sessions.open(session.id, { ...here, mcpServers })
    house.tools.become('silent', 'connecting')
    await prompted(session, 'p1')
    expect(JSON.stringify(reader.entries)).toContain(
      'There is no tool missing now. MCP server silent is still connecting.',
    )
  })

  test('is stored as in progress before the tool is called [T12]', async () => {
    const inJournal: unknown[] = []
    const { house, session, reader, results } = await calling(async () => {
      inJournal.push(...statuses(await house.disk.entries(session.id)))
      return found
    })
    await prompted(session, 'p1')
    expect(inJournal).toEqual(['pending', 'in_progress'])
    expect(results).toEqual([found])
    expect(statuses(reader.entries)).toEqual(['pending', 'in_progress', 'completed'])
  })

  test('does not run before its start is stored, nor if it is cancelled meanwhile', async () => {
    const { house, session, reader } = await calling(async () => found)
    house.fault = (point) => (point === 'turn.started' ? house.disk.hold() : undefined)
    await prompted(session, 'p1')
    expect(house.tools.called).toEqual([])
    const cancelled = session.dispatch(cancel())
    house.disk.release()
    await cancelled
    await quiet()
    expect(house.tools.called).toEqual([])
    expect(statuses(reader.entries).at(-1)).toBe('cancelled')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'cancelled' })
  })

  test('does not run when the disk is full', async () => {
    const { house, session } = await calling(async () => found)
    house.fault = () => {
      if (house.agent.turns.length > 0) house.disk.trouble = 'full'
    }
    await prompted(session, 'p1')
    expect(house.tools.called).toEqual([])
  })

  test('does not run after the end of its turn', async () => {
    const house = new House()
    const later = signal()
    const heard: unknown[] = []
    house.tools.add('docs__search', async () => found, trusted)
    house.agent.script = async (turn) => {
      const call = later.given.then(() => turn.call(request))
      call.catch((error: unknown) => heard.push(error))
      return 'end_turn'
    }
    const { session } = await house.open()
    await prompted(session, 'p1')
    later.give()
    await quiet()
    expect(heard).toMatchObject([{ code: 'TURN_OVER' }])
    expect(house.tools.called).toEqual([])
  })

  test('of an unknown tool returns a result with the error', async () => {
    const { session, reader, results } = await calling(async () => found, trusted, { ...request, name: 'gone' })
    await prompted(session, 'p1')
    expect(results).toMatchObject([{ isError: true, content: [text('There is no tool gone now.')] }])
    expect(statuses(reader.entries)).toEqual(['pending', 'failed'])
  })

  test.each([
    new ParleyError('TOOL_UNKNOWN', { tool: 't' }),
    new ParleyError('TOOL_ARGUMENTS', { tool: 't', reason: 'query is missing' }),
    new ParleyError('TOOL_TIMEOUT', { tool: 't', ms: 10 }),
    new ParleyError('TOOL_CANCELLED', { tool: 't' }),
    new ParleyError('TOOL_NOT_RUN', { tool: 't', reason: 'the server is gone' }),
    new ParleyError('TOOL_LOST', { tool: 't', reason: 'the server died' }),
    new Error('something else'),
  ])('that fails with $message returns a result with the error', async (error) => {
    const { session, reader, results } = await calling(async () => {
      throw error
    })
    await prompted(session, 'p1')
    expect(results).toMatchObject([{ isError: true, content: [{ text: expect.stringContaining(error.message) }] }])
    expect(statuses(reader.entries).filter((one) => one !== 'in_progress')).toEqual(['pending', 'failed'])
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'end_turn' })
  })

  test('that is repeated because it did not run has an entry about that before the second attempt', async () => {
    const inJournal: unknown[] = []
    const { house, session, reader, results } = await calling(async (_args, { onRetry: onAgain }) => {
      await onAgain?.('The server had forgotten us.')
      inJournal.push(statuses(await house.disk.entries(session.id)))
      return found
    })
    await prompted(session, 'p1')
    expect(inJournal).toEqual([['pending', 'in_progress', 'in_progress']])
    expect(results).toEqual([found])
    expect(JSON.stringify(reader.entries)).toContain(
      'Attempt 2, because the first one failed: The server had forgotten us.',
    )
  })

  test.each(wayFaults)(
    'that only reads is repeated once after $code, and the journal has both attempts',
    async (fault) => {
      const inJournal: unknown[] = []
      const { house, session, reader, results } = await calling(async () => {
        inJournal.push(statuses(await house.disk.entries(session.id)))
        if (inJournal.length === 1) throw fault
        return found
      })
      await prompted(session, 'p1')
      expect(inJournal).toEqual([
        ['pending', 'in_progress'],
        ['pending', 'in_progress', 'in_progress'],
      ])
      expect(results).toEqual([found])
      const said = `Attempt 2, because the first one failed: ${fault.message}`
      expect(reader.entries).toContainEqual(
        expect.objectContaining({ patch: { status: 'in_progress', content: [shown(said)] } }),
      )
    },
  )

  test.each(wayFaults)('that only reads is not repeated a second time after $code [T6]', async (fault) => {
    const { house, session, reader, results } = await calling(() => Promise.reject(fault))
    await prompted(session, 'p1')
    expect(house.tools.called).toHaveLength(2)
    expect(results).toMatchObject([{ isError: true, content: [text(fault.message)] }])
    expect(statuses(reader.entries)).toEqual(['pending', 'in_progress', 'in_progress', 'failed'])
  })

  test.each([
    ['changes something', wayFaults[1], { builtin: true, readOnly: false }],
    ['is of a server that is not trusted', wayFaults[1], { builtin: false, readOnly: true }],
    ['took too long', new ParleyError('TOOL_TIMEOUT', { tool: 't', ms: 10 }), trusted],
    ['failed by itself', new Error('something else'), trusted],
  ])('that %s is never repeated', async (_why, fault, claims) => {
    const { house, session } = await calling(() => Promise.reject(fault), claims, { ...request, permission: 'granted' })
    await prompted(session, 'p1')
    expect(house.tools.called).toEqual(['docs__search'])
  })

  test('that asked the user is not repeated', async () => {
    const { house, session } = await calling(async (_args, { onElicit }) => {
      await onElicit?.({ mode: 'url', server: 'docs', message: 'look', url: 'https://example.org' })
      throw wayFaults[1]
    })
    await prompted(session, 'p1')
    expect(house.tools.called).toEqual(['docs__search'])
  })

  test('has remarks appended to the stored and to the model’s content, so that no offset changes', async () => {
    const { session, results } = await calling(async (_args, { onElicit }) => {
      for (let n = 0; n < 2; n++)
        await onElicit?.({ mode: 'url', server: 'docs', message: 'look', url: 'https://example.org' })
      return { content: [text('long')], modelContent: [text('lo'), text('[offset 2]')], isError: false }
    })
    await prompted(session, 'p1')
    const remark = text('docs asked to open a page, which this client does not offer. It was declined.')
    expect(results).toEqual([
      { content: [text('long'), remark], modelContent: [text('lo'), text('[offset 2]'), remark], isError: false },
    ])
  })

  test('interrupted by kill -9 fails as perhaps run, and is not run again', async () => {
    const { house, session } = await calling(() => new Promise(() => {}))
    await prompted(session, 'p1')
    expect(house.tools.called).toEqual(['docs__search'])
    const next = await house.killed(session)
    await quiet()
    expect(statuses(await house.disk.entries(session.id))).toEqual(['pending', 'in_progress', 'failed'])
    expect(statuses(next.reader.entries)).toEqual(['failed'])
    expect(next.reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'interrupted' })
    expect(next.house.tools.called).toEqual([])
  })
})

describe('a tool that needs permission', () => {
  test.each([
    ['allow_once', ['docs__search']],
    ['allow_always', ['docs__search']],
    ['reject_once', []],
    ['yes please', []],
    [null, []],
  ])('with the answer %j runs %j', async (optionId, called) => {
    const { house, session } = await calling(async () => found, { builtin: false, readOnly: true })
    await prompted(session, 'p1')
    expect(house.tools.called).toEqual([])
    await session.dispatch(answer(question(session), optionId))
    await quiet()
    expect(house.tools.called).toEqual(called)
    expect(session.state.phase).toBe('idle')
  })

  test('asks once when the answer is “always”, and again for another tool [C6]', async () => {
    const { house, session } = await calling(async () => found, {})
    await prompted(session, 'p1')
    await session.dispatch(answer(question(session), 'allow_always'))
    await quiet()
    await prompted(session, 'p2')
    expect(house.tools.called).toEqual(['docs__search', 'docs__search'])
    house.tools.add('docs__delete', async () => found)
    house.agent.script = async (turn) => {
      await turn.call({ ...request, name: 'docs__delete' })
      return 'end_turn'
    }
    await prompted(session, 'p3')
    expect(session.state.phase).toBe('waiting')
  })

  test('does not ask when its agent has the answer already', async () => {
    const { house, session } = await calling(async () => found, {}, { ...request, permission: 'granted' })
    await prompted(session, 'p1')
    expect(house.tools.called).toEqual(['docs__search'])
  })
})

describe('a builtin tool', () => {
  test('knows its caller, and its progress and plans belong to its call', async () => {
    const { session, reader } = await calling(async (_args, { caller }) => {
      await caller?.report({ content: [{ type: 'content', content: text('Half of it.') }] })
      await caller?.plan([{ content: 'Look', priority: 'high', status: 'pending' }])
      return { ...found, content: [text(JSON.stringify([caller?.sessionId, caller?.turnId, caller?.roots]))] }
    })
    await prompted(session, 'p1')
    expect(statuses(reader.entries)).toEqual(['pending', 'in_progress', undefined, 'completed'])
    expect(reader.entries.filter(({ kind }) => kind === 'plan')).toHaveLength(1)
    const { cwd, id } = session.existing
    const said = JSON.stringify([id, 't1', [cwd]])
    expect(reader.entries).toContainEqual(
      expect.objectContaining({ patch: { status: 'completed', content: [shown(said)], rawOutput: { total: 1 } } }),
    )
  })

  test('may show other content to users than to the model, and can read the whole result of an earlier call', async () => {
    const results: unknown[] = []
    const { session, reader } = await calling(async (_args, { caller }) => {
      for (const id of ['t1-c1', 't2-c1', 'never']) results.push(await caller?.resultOf(id))
      return { ...found, displayContent: [shown('For people.')] }
    })
    await prompted(session, 'p1')
    await prompted(session, 'p2')
    expect(results).toEqual([undefined, undefined, undefined, [text('For people.')], undefined, undefined])
    expect(reader.entries.filter((entry) => JSON.stringify(entry).includes('For people.'))).toHaveLength(2)
  })

  test('that continues after its call has its reports ignored', async () => {
    const late = signal()
    const { session, reader } = await calling(async (_args, { caller }) => {
      void late.given.then(() => caller?.report({ title: 'Too late' }))
      return found
    })
    await prompted(session, 'p1')
    late.give()
    await quiet()
    expect(JSON.stringify(reader.entries)).not.toContain('Too late')
  })
})

function shown(said: string) {
  return { type: 'content' as const, content: text(said) }
}
