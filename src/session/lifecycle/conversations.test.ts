/** Which conversation of an agent's own store belongs to which session. */
import { expect, test } from 'vitest'
import { diskAfter, store } from '../../../test/sim/given.ts'
import { House } from '../../../test/sim/house.ts'
import * as say from '../../../test/sim/words.ts'
import type { Body } from '../domain/entries.ts'
import { conversationsToForget, forkedConversation, newConversations } from './conversations.ts'

const named = say.titled('"agent_session" "forked_from"')
const talked = [
  say.created,
  named,
  say.agentSession('a-1'),
  say.agentSession('b-1', { agent: 'another' }),
  say.titled('x'),
]

test('those of an agent are found in what was stored since they were last looked for', async () => {
  const journal = await diskAfter(...talked)
  const sessions = new Map([['s-1', talked.length]])
  const found = new Map([['a-1', 's-1']])
  expect(await newConversations(journal, 'puppet', new Map())).toEqual({ found, sessions })
  expect(await newConversations(journal, 'puppet', new Map([['s-1', 2]]))).toEqual({ found, sessions })
  for (const seen of [3, talked.length])
    expect(await newConversations(journal, 'puppet', new Map([['s-1', seen]]))).toEqual({ found: new Map(), sessions })
})

test('those of a deleted session are each forgotten once; one that was imported stays known as such', async () => {
  const again = [say.agentSession('a-1', { how: 'import' }), say.agentSession('a-1', { cwd: '/tmp' })]
  const known = { caps: ['load'], sessionId: 's-1' }
  expect(await conversationsToForget(await diskAfter(...talked, ...again), 's-1')).toEqual([
    { ...known, agent: 'puppet', agentSessionId: 'a-1', cwd: '/tmp', isImported: true },
    { ...known, agent: 'another', agentSessionId: 'b-1', cwd: '/home/ada', isImported: false },
  ])
})

test('those that a fork has copied stay with its source', async () => {
  const house = new House(await diskAfter(...talked))
  const fork = await house.sessions.fork('s-1')
  expect(await conversationsToForget(house.disk, fork)).toEqual([])
})

const begun = [say.accepted('p1', 'x'), say.turnStarted(1, 'p1'), say.userSaid(1, 'p1', 'x')]
const failed = say.ended(1, 'p1', 'error')
const turn = [...begun, say.ended(1, 'p1', 'end_turn')]
const outside = { ...say.agentSaid('t1-outside1', 'x'), origin: 'outside' } as Body
test.each<[what: string, isKnown: boolean, source: readonly Body[], since?: readonly Body[], fork?: readonly Body[]]>([
  ['made at the end of its source', true, []],
  ['made of a closed one', true, [say.closed]],
  ['made in the middle of a turn', false, begun],
  ['whose source has got a name since', true, [], [named, say.titled('"turn_started"')]],
  ['whose source has had a turn since', false, [], turn],
  ['that has had a turn', false, [], [], turn],
  ['whose only turn failed before its agent did anything', true, [], [], [...begun, outside, failed]],
  ['whose turn failed after its agent spoke', false, [], [], [...begun, say.agentSaid('m1', 'x'), failed]],
  ['whose turn failed after its agent called a tool', false, [], [], [...begun, say.toolCall('c1', 'x'), failed]],
  [
    'whose agent said something before and after that',
    true,
    [],
    [],
    [say.agentSaid('t0-late', 'x'), ...begun, failed, say.agentSaid('t1-late', 'x')],
  ],
])(
  'a fork %s goes on with a copy of the conversation: %s',
  async (_what, isKnown, ...[source, since = [], fork = []]) => {
    const at = [say.created, say.agentSession('a-1'), ...source]
    const disk = await diskAfter(...at, ...since)
    const from = (session: string): Body => ({ kind: 'forked_from', from: { session, seq: at.length } })
    const end = say.ended(1, 'p1', 'error')
    await store(disk, 's-2', [...at, from('s-1'), ...(source === begun ? [end] : []), ...fork])
    expect((await forkedConversation(disk, 's-2'))?.agentSessionId).toBe(isKnown ? 'a-1' : undefined)
    await store(disk, 's-3', [...at, from('s-9')])
    for (const other of ['s-1', 's-3']) expect(await forkedConversation(disk, other)).toBeUndefined()
  },
)
