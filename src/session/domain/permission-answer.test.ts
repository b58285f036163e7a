/** Only one answer counts: permission requests to users, and who may approve them. */
import { describe, expect, test } from 'vitest'
import type { PermissionKind, PermissionOutcome } from '../../ports/values/content.ts'
import type { Grant, GrantSubject } from '../../ports/rules.ts'
import type { Turn } from '../../ports/agent.ts'
import { quiet } from '../../../test/sim/clock.ts'
import { House, prompted } from '../../../test/sim/house.ts'
import { given } from '../../../test/sim/given.ts'
import {
  accepted,
  always,
  answer,
  asked,
  cancel,
  cancelRequested,
  created,
  nobody,
  options,
  resolved,
  searching,
  text,
  toolCall,
  turnStarted,
  userSaid,
  yes,
} from '../../../test/sim/words.ts'
import type { Body } from './entries.ts'
import {
  ALWAYS_IN_PROJECT,
  grantMadeBy,
  isSameGrant,
  isYes,
  NEVER_IN_PROJECT,
  ruleMadeBy,
} from './permission-answer.ts'
import type { Session } from '../session.ts'
import { openQuestions } from './state.ts'
import { answerIn } from '../../../test/sim/puppet.ts'

/** An agent that asks once and then tells what it heard. */
function asking() {
  const house = new House()
  const heard: PermissionOutcome[] = []
  house.agent.script = async (turn: Turn) => {
    const question = { toolCallId: 'c1', patch: { title: 'Delete everything' }, options, state: { step: 1 } }
    const outcome = answerIn(turn) ?? (await turn.ask(question))
    heard.push(outcome)
    await turn.say(text(isYes(outcome) ? 'Done.' : 'Then not.'))
    return 'end_turn'
  }
  return { house, heard }
}

function question({ state }: Session): string {
  return openQuestions(state)[0]?.requestId ?? 'none'
}

describe('a permission request', () => {
  test('goes to every client; the first answer counts, and the second is refused as unknown', async () => {
    const { house, heard } = asking()
    const { session, reader } = await house.open()
    const other = await house.join(session)
    await prompted(session, 'p1')
    for (const one of [reader, other]) expect(one.kinds.at(-1)).toBe('permission_requested')
    const requestId = question(session)
    const answers = await Promise.allSettled([
      session.dispatch(answer(requestId, 'reject_once')),
      session.dispatch(answer(requestId, 'allow_once')),
    ])
    await quiet()
    expect(answers).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'PERMISSION_UNKNOWN' } },
    ])
    expect(heard).toEqual([{ outcome: 'selected', optionId: 'reject_once', kind: 'reject_once' }])
    expect(other.text).toBe('Then not.')
  })

  test.each(['yes', '', null])('answered with %j, which was not offered, is not approved', async (optionId) => {
    const { house, heard } = asking()
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    await session.dispatch(answer(question(session), optionId))
    await quiet()
    expect(heard).toEqual([{ outcome: 'cancelled' }])
    expect(reader.text).toBe('Then not.')
  })

  test.each(['cancel first', 'answer first'])(
    'cancelled and answered in one batch, %s, ends as cancelled',
    async (order) => {
      const { house } = asking()
      const { session, reader } = await house.open()
      await prompted(session, 'p1')
      const commands = [cancel(), answer(question(session), 'allow_once')]
      if (order === 'answer first') commands.reverse()
      await Promise.allSettled(commands.map((command) => session.dispatch(command)))
      await quiet()
      expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'cancelled' })
    },
  )

  test('cancelled while it waits resolves cancelled, and its prompt ends cancelled', async () => {
    const { house, heard } = asking()
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    await session.dispatch(cancel())
    await quiet()
    expect(heard).toEqual([{ outcome: 'cancelled' }])
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'cancelled' })
  })

  test('stays open without an attached client, also through kill -9, and its turn continues when it is answered', async () => {
    const { house } = asking()
    const { session } = await house.open()
    await prompted(session, 'p1')
    const next = await house.killed(session)
    expect(next.session.state.phase).toBe('suspended')
    expect(next.house.agent.turns).toEqual([])
    await next.session.dispatch(answer(question(next.session), 'allow_once'))
    await quiet()
    const [turn] = next.house.agent.turns
    const outcome = { outcome: 'selected', optionId: 'allow_once', kind: 'allow_once' }
    expect(turn?.resumed).toEqual({ calls: [{ state: { step: 1 }, toolCallId: 'c1', outcome }], ended: [] })
    expect(next.reader.text).toBe('Done.')
    expect(next.reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', promptId: 'p1', stopReason: 'end_turn' })
  })

  test('of a suspended turn: a cancel ends its prompt, and no agent runs', async () => {
    const { house } = asking()
    const { session } = await house.open()
    await prompted(session, 'p1')
    const next = await house.killed(session)
    await next.session.dispatch(cancel())
    await quiet()
    expect(next.reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'cancelled' })
    expect(next.house.agent.turns).toEqual([])
  })

  test('is sent after the one before it was answered', async () => {
    const house = new House()
    house.agent.script = async (turn) => {
      const ask = (toolCallId: string) => turn.ask({ toolCallId, patch: { title: toolCallId }, options, state: null })
      await Promise.all([ask('c1'), ask('c2')])
      return 'end_turn'
    }
    const { session, reader } = await house.open()
    await prompted(session, 'p1')
    expect(reader.kinds.filter((kind) => kind === 'permission_requested')).toHaveLength(1)
    await session.dispatch(answer(question(session), 'allow_once'))
    await quiet()
    await session.dispatch(answer(question(session), 'allow_once'))
    await quiet()
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'turn_ended', stopReason: 'end_turn' })
  })
})

const working = [created, accepted('p1', 'Hello'), turnStarted(1, 'p1'), userSaid(1, 'p1', 'Hello')]
const waiting = [...working, toolCall('c1', 'Delete everything'), asked('r1', 'c1', searching)]

describe('the entries of an answer', () => {
  const grant: GrantSubject = { tool: 'run', definition: 'parley', command: 'npm test' }
  const selected = (kind: PermissionKind, optionId: string = kind): PermissionOutcome => ({
    outcome: 'selected',
    optionId,
    kind,
  })
  test.each<[PermissionOutcome, boolean, Grant['effect'] | undefined, Grant['effect'] | undefined]>([
    [nobody, false, undefined, undefined],
    [selected('allow_once'), true, undefined, undefined],
    [selected('allow_always'), true, 'allow', undefined],
    [selected('allow_always', ALWAYS_IN_PROJECT), true, undefined, 'allow'],
    [selected('allow_once', ALWAYS_IN_PROJECT), true, undefined, undefined],
    [selected('reject_once'), false, undefined, undefined],
    [selected('reject_always'), false, 'deny', undefined],
    [selected('reject_always', NEVER_IN_PROJECT), false, undefined, 'deny'],
    [selected('reject_once', NEVER_IN_PROJECT), false, undefined, undefined],
  ])('%j', (outcome, yes, ...[inSession, inProject]) => {
    expect(isYes(outcome)).toBe(yes)
    expect(grantMadeBy({ grant }, outcome)).toEqual(inSession && { ...grant, effect: inSession })
    expect(ruleMadeBy({ grant }, outcome)).toEqual(inProject && { effect: inProject, subject: grant })
    expect([grantMadeBy({}, outcome), ruleMadeBy({}, outcome)]).toEqual([undefined, undefined])
  })

  test('two grants are equal only if all their fields are', () => {
    const held: Grant = { ...grant, effect: 'allow', host: 'example.org' }
    expect(isSameGrant(held, { ...held })).toBe(true)
    const others: readonly Partial<Grant>[] = [
      { effect: 'deny' },
      { tool: 'x' },
      { definition: 'x' },
      { command: 'x' },
      { host: 'x' },
    ]
    for (const other of others) expect(isSameGrant(held, { ...held, ...other })).toBe(false)
  })

  test('the option ids for the project are those that journals contain', () => {
    expect([ALWAYS_IN_PROJECT, NEVER_IN_PROJECT]).toEqual(['allow_always_project', 'reject_always_project'])
  })

  test('revoking a grant takes this one back, once; one that does not exist adds no entry', () => {
    const held: Grant = { ...searching, effect: 'allow' }
    const other = { ...searching, tool: 'docs__read' }
    const revoke = (grant: Grant) => ({ kind: 'revoke', grant }) as const
    given(...waiting, resolved('r1', always), asked('r2', 'c1', other), resolved('r2', always))
      .when(revoke({ ...held, tool: 'x' }), revoke(held), revoke(held), revoke({ ...other, effect: 'allow' }))
      .then(
        { kind: 'permission_revoked', grant: held },
        { kind: 'permission_revoked', grant: { ...other, effect: 'allow' } },
      )
  })

  test('the client that answered and its comment are stored', () => {
    const { happened } = given(...waiting).when({
      kind: 'answer',
      requestId: 'r1',
      optionId: 'allow_once',
      why: 'It is safe.',
      by: 'Zed',
    })
    expect(happened).toEqual({
      bodies: [
        { kind: 'notice', text: 'It is safe.' },
        { ...resolved('r1', yes), by: 'Zed' },
      ],
    })
    given(...waiting)
      .when(answer('r1', 'allow_once'))
      .then(resolved('r1', yes))
  })

  test('a request stores its grant, and whether it ends with the process of its agent; such requests may be open at once', () => {
    const ask = (more: object) =>
      ({
        kind: 'ask',
        turnId: 't1',
        requestId: 'r2',
        ask: { toolCallId: 'c2', patch: { title: 'Look' }, options, resume: null, ...more },
      }) as const
    const requested = {
      kind: 'permission_requested',
      requestId: 'r2',
      toolCallId: 'c2',
      call: { title: 'Look' },
      options,
    }
    const put = (past: readonly Body[], more: object) => {
      const { happened } = given(...past).when(ask(more))
      return 'bodies' in happened ? happened.bodies.slice(1) : []
    }
    expect(put(working, {})).toEqual([{ ...requested, resume: null }])
    expect(put(working, { grant: searching })).toEqual([{ ...requested, resume: null, grant: searching }])
    expect(put(working, { survives: false })).toEqual([{ ...requested, resume: null, survives: false }])
    expect(put(waiting, { survives: false })).toEqual([{ ...requested, resume: null, survives: false }])
    expect([put(waiting, {}), put([...working, cancelRequested(1)], { survives: false })]).toEqual([[], []])
  })
})
