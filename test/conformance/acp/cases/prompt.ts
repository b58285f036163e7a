/** A prompt turn: content, order, stop reasons, and what is told beside the answer. */
import type { Fields } from '../../../e2e/message.ts'
import { type Case, every, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { onNthUpdate, onResult, onUpdate, refusing, speakingAfter, update, withoutUpdate } from '../mutant.ts'
import { fieldsOf, listOf, textOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { isRefused } from './json-rpc.ts'
import { opened } from './load.ts'

const STOP_REASONS = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']

/** Kinds of content by the capability that they need. */
const KINDS: Readonly<Record<string, Fields>> = {
  image: { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
  audio: { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  embeddedContext: {
    type: 'resource',
    resource: { uri: 'file:///a.txt', text: 'the content', mimeType: 'text/plain' },
  },
}

const NOTED: readonly Fields[] = [
  { notice: { severity: 'info', message: 'By the way.' } },
  { compaction: { compactionId: 'c1', status: 'in_progress' } },
  { compaction: { compactionId: 'c1', status: 'completed' } },
  { chunk: 'Done.' },
]
const SHOWS_NOTED = { session: { notices: {}, compaction: {} } }

async function sent(stage: Stage, blocks: readonly Fields[], more: Fields = {}) {
  const sessionId = await stage.session()
  return stage.a.request('session/prompt', {
    sessionId,
    prompt: [{ type: 'text', text: 'Say hello.' }, ...blocks],
    ...more,
  })
}

export const promptCases: readonly Case[] = [
  one('A-PR-1', 'text and resource links are accepted by every agent', {
    play: async (stage) => {
      const link = { type: 'resource_link', uri: 'file:///etc/hostname', name: 'hostname', mimeType: 'text/plain' }
      return stage.mustWork(await sent(stage, [link]), 'session/prompt')
    },
    check: ({ stopReason }) => unless(typeof stopReason === 'string', 'no stop reason'),
    mutant: { on: { result: 'session/prompt' }, drop: 'result.stopReason' },
  }),
  ...Object.entries(KINDS).flatMap(([kind, block]) => [
    one('A-PR-2', `content of the kind ${kind} is taken where it is offered, and refused with -32602 where not`, {
      play: async (stage) => {
        const offered = fieldsOf(fieldsOf(stage.offer['agentCapabilities'])['promptCapabilities'])[kind] === true
        const answer = await sent(stage, [block])
        if (offered) stage.mustWork(answer, 'session/prompt')
        return { offered, answer }
      },
      check: ({ offered, answer }) => (offered ? undefined : isRefused(-32_602)(answer)),
      mutant: {
        on: { response: 'session/prompt' },
        instead: { id: '$id', error: { code: -32_603, message: 'Broken.' } },
      },
    }),
    one('A-PR-2', `an agent that takes the kind ${kind} gets it`, {
      script: [{ agent: { promptCapabilities: { [kind]: true } } }, { chunk: 'Seen.' }],
      play: async (stage) => {
        stage.needs(`agentCapabilities.promptCapabilities.${kind}`)
        return stage.mustWork(await sent(stage, [block]), 'session/prompt')
      },
      check: ({ stopReason }) => unless(stopReason === 'end_turn', 'it was not taken'),
      mutant: refusing('session/prompt', -32_602),
    }),
  ]),
  one('A-PR-3', 'a prompt is answered with one of the stop reasons', {
    play: async (stage) => stage.prompt(await stage.session()),
    check: ({ stopReason }) => unless(STOP_REASONS.includes(String(stopReason)), `it ended with ${String(stopReason)}`),
    mutant: onResult('session/prompt', 'stopReason', 'done'),
  }),
  ...STOP_REASONS.filter((reason) => reason !== 'cancelled').map((reason) =>
    one('A-PR-6', `a prompt can end with ${reason}`, {
      script: [{ end: reason }],
      play: async (stage) => stage.prompt(await stage.session()),
      check: ({ stopReason }) => unless(stopReason === reason, `it ended with ${String(stopReason)}`),
      mutant: onResult('session/prompt', 'stopReason', 'cancelled'),
    }),
  ),
  one('A-PR-4', 'updates of two sessions at once each name their session', {
    script: [{ chunk: 'w{n} ', times: 15, everyMs: 3 }],
    play: async (stage) => {
      const both = [await stage.session(), await stage.session()]
      const asked = both.map((sessionId) => stage.begin(sessionId))
      for (const id of asked) await stage.a.answerTo(id)
      return both.map((sessionId) => textOf(updatesOf(stage.transcript, undefined, sessionId)))
    },
    check: ([left, right]) =>
      unless(left === right && (left ?? '').endsWith('w15 '), 'words of one are told in the other'),
    mutant: { on: { call: 'session/update', update: 'agent_message_chunk' }, set: 'params.sessionId', to: 'other' },
  }),
  one('A-PR-5', 'every update of the turn comes before its answer', {
    script: [{ chunk: 'w{n} ', times: 50 }],
    play: async (stage) => {
      await stage.prompt(await stage.session())
      const said = textOf(updatesOf(stage.transcript))
      await stage.a.quiet()
      return said
    },
    check: (said, transcript) =>
      first(unless(said.endsWith('w50 '), 'the last words were missing'), law('A-PR-5')(said, transcript)),
    mutant: speakingAfter('session/prompt'),
  }),
  one('A-PR-7', 'after a refusal the session accepts the next prompt', {
    script: [{ end: 'refusal' }],
    play: async (stage) => {
      const sessionId = await stage.talked()
      stage.script([{ chunk: 'Fine.' }])
      return stage.prompt(sessionId)
    },
    check: ({ stopReason }) => unless(stopReason === 'end_turn', `it ended with ${String(stopReason)}`),
    mutant: { on: { result: 'session/prompt' }, nth: 2, set: 'result.stopReason', to: 'refusal' },
  }),
  one('A-PR-8', 'chunks of one message have one id, those of another message another', {
    script: [
      { chunk: 'a{n}', times: 3 },
      { toolCall: { toolCallId: 'x', title: 'X', status: 'completed' } },
      { chunk: 'b' },
    ],
    play: async (stage) => {
      const sessionId = await stage.talked()
      await stage.prompt(sessionId)
      const ids = updatesOf(stage.transcript, 'agent_message_chunk').map(({ messageId }) => messageId)
      return { first: ids.slice(0, 3), next: ids.slice(4) }
    },
    check: ({ first: before, next }) =>
      first(
        every(
          before,
          (id) => typeof id === 'string' && id === before[0],
          'chunks of one message have several ids, or none',
        ),
        unless(!next.includes(before[0]), 'a message of the next turn has the id of one before'),
      ),
    mutant: onNthUpdate(2, 'agent_message_chunk', ['messageId', 'x']),
  }),
  one('A-PR-9', 'a replayed user message has an id', {
    play: async (stage) => {
      stage.needs('agentCapabilities.loadSession')
      const sessionId = await stage.session()
      await stage.prompt(sessionId, 'Mine.')
      await stage.again()
      const { replayed } = await opened(stage, 'session/load', { sessionId })
      return replayed.filter(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk')
    },
    check: (told) =>
      unless(told.length > 0 && told.every(({ messageId }) => typeof messageId === 'string'), 'it has none'),
    mutant: onUpdate('user_message_chunk', 'messageId', null),
  }),
  one('A-PR-10', 'usage has used tokens, the size of the context, and the cost', {
    script: [{ usage: { used: 10, size: 100, cost: { amount: 0.5, currency: 'USD' } } }, { chunk: '.' }],
    play: (stage) => stage.turn('usage_update'),
    check: ([usage]) =>
      unless(
        usage?.['used'] === 10 && usage['size'] === 100 && fieldsOf(usage['cost'])['amount'] === 0.5,
        'it does not',
      ),
    mutant: { on: { call: 'session/update', update: 'usage_update' }, drop: 'params.update.size' },
  }),
  one('A-PR-11', 'the title in updates is the title in the list', {
    script: [{ title: 'A new name' }, { chunk: '.' }],
    play: async (stage) => {
      const sessionId = await stage.talked()
      const told = updatesOf(stage.transcript, 'session_info_update', sessionId).findLast(
        ({ title }) => title !== undefined,
      )
      const list = await stage.a.request('session/list', { cwd: stage.cwd })
      return {
        told: told?.['title'],
        listed: listOf(fieldsOf(list.result)['sessions'])[0]?.['title'],
        update: told ?? {},
      }
    },
    check: ({ told, listed, update: info }) =>
      first(
        unless(told === 'A new name', `told ${String(told)}`),
        unless(told === listed, `listed ${String(listed)}`),
        unless(!('sessionId' in info) && !('cwd' in info), 'the update says what it must not'),
      ),
    mutant: onResult('session/list', 'sessions.0.title', 'Another'),
  }),
  one('A-PR-12', 'a second prompt waits for the first, and both are answered', {
    tags: ['ours'],
    script: [{ chunk: 'w{n} ', times: 5, everyMs: 10 }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const asked = [stage.begin(sessionId, 'one'), stage.begin(sessionId, 'two')]
      const answers = [await stage.a.answerTo(asked[0]), await stage.a.answerTo(asked[1])]
      return answers.map(({ result }) => result?.['stopReason'])
    },
    check: (reasons) => every(reasons, (reason) => reason === 'end_turn', `they ended ${reasons.join(', ')}`),
    mutant: { on: { result: 'session/prompt' }, nth: 2, set: 'result.stopReason', to: 'cancelled' },
  }),
  one('A-PR-12', 'an empty prompt is refused', {
    tags: ['ours'],
    play: async (stage) => stage.a.request('session/prompt', { sessionId: await stage.session(), prompt: [] }),
    check: isRefused(-32_602),
    mutant: { on: { error: 'session/prompt' }, instead: { id: '$id', result: { stopReason: 'end_turn' } } },
  }),
  one('A-PR-12', 'a prompt for a session that is not there is refused', {
    play: ({ a }) => a.request('session/prompt', { sessionId: 'no-such', prompt: [{ type: 'text', text: 'on' }] }),
    check: ({ error }) => unless(error !== undefined, 'it was taken'),
    mutant: { on: { error: 'session/prompt' }, instead: { id: '$id', result: { stopReason: 'end_turn' } } },
  }),
  ...noticeCases(),
  one('A-PR-15', 'a compaction begins once and ends once', {
    script: NOTED,
    client: SHOWS_NOTED,
    play: async (stage) => {
      const told = await stage.turn('compaction_update')
      return told.map(({ compactionId, status }) => [compactionId, status])
    },
    check: (told) => {
      const statuses = told.map(([, status]) => status)
      const ends = statuses.filter((status) => status !== 'in_progress')
      return first(
        unless(
          statuses[0] === 'in_progress' && ends.length === 1 && statuses.at(-1) === ends[0],
          `it went ${statuses.join(', ')}`,
        ),
        unless(new Set(told.map(([id]) => id)).size === 1, 'it has several ids'),
      )
    },
    mutant: { on: { call: 'session/update', update: 'compaction_update' }, nth: 2, twice: true },
  }),
]

function noticeCases(): readonly Case[] {
  return [
    one('A-PR-13', 'notices and compaction are not sent to a client that did not ask for them', {
      script: NOTED,
      play: async (stage) => stage.prompt(await stage.session()),
      check: law('A-IN-5'),
      mutant: {
        on: { result: 'session/prompt' },
        before: update({ sessionUpdate: 'notice', severity: 'info', title: 'By the way.' }),
      },
    }),
    one('A-PR-13', 'a client that asked for notices and compaction gets them', {
      script: NOTED,
      client: SHOWS_NOTED,
      play: async (stage) => {
        await stage.prompt(await stage.session())
        return [updatesOf(stage.transcript, 'notice').length, updatesOf(stage.transcript, 'compaction_update').length]
      },
      check: ([notices, compactions]) =>
        unless(notices === 1 && compactions === 2, `${notices} notices, ${compactions} compactions`),
      mutant: withoutUpdate('notice'),
    }),
    one('A-PR-14', 'notices are not sent again by a load', {
      script: NOTED,
      client: SHOWS_NOTED,
      play: async (stage) => {
        const sessionId = await stage.talked()
        await stage.again()
        return (await opened(stage, 'session/load', { sessionId })).replayed
      },
      check: (told) => every(told, ({ sessionUpdate }) => sessionUpdate !== 'notice', 'it is told again'),
      mutant: {
        on: { result: 'session/load' },
        before: update({ sessionUpdate: 'notice', severity: 'info', title: 'By the way.' }),
      },
    }),
  ]
}
