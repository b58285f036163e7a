/** session/load: the whole conversation, then the answer, then on as before. */
import type { Fields, Message } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { accepting, onResult, onUpdate, refusing, update, withoutUpdate } from '../mutant.ts'
import { type Told, textOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { isRefused } from './json-rpc.ts'

export const TALK: readonly Fields[] = [
  { thought: 'How to begin…' },
  { chunk: 'word {n} ', times: 20 },
  { plan: ['one', 'two'] },
  { toolCall: { toolCallId: 'look', title: 'Looks', kind: 'search', status: 'completed' } },
  { chunk: 'The end.' },
]

interface Loaded {
  readonly sessionId: string
  readonly live: readonly Told[]
  /** What came between the request and its answer. */
  readonly replayed: readonly Told[]
  readonly late: readonly Told[]
  readonly answer: Message
}

/** A turn by one client; another, or the same again, loads. */
async function loaded(stage: Stage, method = 'session/load'): Promise<Loaded> {
  stage.needs(
    method === 'session/load' ? 'agentCapabilities.loadSession' : 'agentCapabilities.sessionCapabilities.resume',
  )
  const sessionId = await stage.session()
  await stage.prompt(sessionId, 'Begin.')
  const live = updatesOf(stage.transcript, undefined, sessionId)
  await stage.again()
  return { sessionId, live, ...(await opened(stage, method, { sessionId })) }
}

/** `params` name the session, and may say more. */
export async function opened(stage: Stage, method: string, params: Fields & { readonly sessionId: string }) {
  const { mark } = stage.a
  const answer = await stage.a.request(method, { cwd: stage.cwd, mcpServers: [], ...params })
  stage.mustWork(answer, method)
  await stage.a.quiet(120)
  const { entries } = stage.a.since(mark)
  const at = entries.findIndex(({ message }) => message === answer)
  const of = (part: typeof entries) => updatesOf({ ...stage.transcript, entries: part }, undefined, params.sessionId)
  return { answer, replayed: of(entries.slice(0, at)), late: of(entries.slice(at)) }
}

/** What was said and done, without the cuts between chunks. */
function gist(updates: readonly Told[]) {
  return {
    said: textOf(updates),
    thought: textOf(updates, 'agent_thought_chunk'),
    calls: updates.filter(({ sessionUpdate }) => sessionUpdate === 'tool_call').map(({ toolCallId }) => toolCallId),
    plans: updates.filter(({ sessionUpdate }) => sessionUpdate === 'plan').map(({ entries }) => entries),
  }
}

export const isSpoken = ({ sessionUpdate }: Told): boolean => /_chunk$|^tool_call|^plan$/u.test(sessionUpdate)

export const loadCases: readonly Case[] = [
  one({
    row: 'A-LD-1',
    name: 'a load replays the whole conversation: user, agent, thoughts, tool calls, plans',
    carried: true,
    script: TALK,
    play: (stage) => loaded(stage),
    check: ({ live, replayed }) =>
      first(
        unless(textOf(replayed, 'user_message_chunk') === 'Begin.', 'the user’s words are missing'),
        unless(JSON.stringify(gist(replayed)) === JSON.stringify(gist(live)), 'it is not what was told live'),
      ),
    mutant: withoutUpdate('user_message_chunk'),
  }),
  one({
    row: 'A-LD-2',
    name: 'a load is answered after all updates of the history, and none comes after the response',
    carried: true,
    script: TALK,
    play: (stage) => loaded(stage),
    check: ({ late, replayed }) =>
      first(
        unless(replayed.length > 0, 'nothing was told'),
        unless(!late.some(isSpoken), 'something came after the answer'),
      ),
    mutant: {
      on: { result: 'session/load' },
      after: update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'late' } }),
    },
  }),
  one({
    row: 'A-LD-2',
    name: 'a load by any agent sends updates, and none after its response',
    play: (stage) => loaded(stage),
    check: ({ late, replayed }) =>
      first(
        unless(replayed.some(isSpoken), 'nothing was told'),
        unless(!late.some(isSpoken), 'something came after the answer'),
      ),
    mutant: {
      on: { result: 'session/load' },
      after: update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'late' } }),
    },
  }),
  one({
    row: 'A-LD-3',
    name: 'a load is answered with an object',
    play: (stage) => loaded(stage),
    check: ({ answer }) => unless(typeof answer.result === 'object' && answer.result !== null, 'it answered null'),
    mutant: onResult('session/load', '', null),
  }),
  one({
    row: 'A-LD-4',
    name: 'the next prompt continues the conversation',
    script: TALK,
    play: async (stage) => {
      const { sessionId } = await loaded(stage)
      return stage.prompt(sessionId, 'Again.')
    },
    check: ({ stopReason }) => unless(stopReason === 'end_turn', `it ended with ${String(stopReason)}`),
    mutant: { on: { result: 'session/prompt' }, nth: 2, set: 'result.stopReason', to: 'refusal' },
  }),
  one({
    row: 'A-LD-5',
    name: 'an unknown session is refused with -32002',
    play: async (stage) => {
      stage.needs('agentCapabilities.loadSession')
      return stage.a.request('session/load', { sessionId: 'no-such', cwd: stage.cwd, mcpServers: [] })
    },
    check: isRefused(-32_002),
    mutant: accepting('session/load'),
  }),
  one({
    row: 'A-LD-6',
    name: 'messages of a replay have the ids that they had live',
    script: TALK,
    play: (stage) => loaded(stage),
    check: ({ live, replayed }) => {
      const ids = (updates: readonly Told[]) =>
        JSON.stringify([
          ...new Set(
            updates
              .filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
              .map(({ messageId }) => messageId),
          ),
        ])
      return unless(ids(live) === ids(replayed), `live ${ids(live)}, replayed ${ids(replayed)}`)
    },
    mutant: {
      on: { call: 'session/update', update: 'agent_message_chunk' },
      nth: 21,
      set: 'params.update.messageId',
      to: 'other',
    },
  }),
  one({
    row: 'A-LD-7',
    name: 'a load sends the context usage before its response',
    script: [{ usage: { used: 100, size: 1000 } }, { chunk: 'Yes.' }],
    play: (stage) => loaded(stage),
    check: ({ replayed }) =>
      unless(
        replayed.some(({ sessionUpdate, used }) => sessionUpdate === 'usage_update' && used === 100),
        'it does not',
      ),
    mutant: withoutUpdate('usage_update'),
  }),
  one({
    row: 'A-LD-1',
    name: 'a load during a turn sends all entries so far, then live updates',
    carried: true,
    company: true,
    script: [{ chunk: 'w{n} ', times: 40, everyMs: 5 }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const prompt = stage.begin(sessionId)
      await stage.told('agent_message_chunk')
      const other = await stage.another()
      stage.mustWork(await other.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] }), 'session/load')
      await stage.a.answerTo(prompt)
      const said = (on: typeof other) => textOf(updatesOf(on.transcript, undefined, sessionId))
      await other.until(() => said(other).includes('w40'), 'the last word')
      return { one: said(stage.a), other: said(other) }
    },
    check: (said) => unless(said.one === said.other, `the second client has ${said.other}`),
    mutant: { on: { call: 'session/update', update: 'agent_message_chunk' }, nth: 2, twice: true },
  }),
  one({
    row: 'A-LD-4',
    name: 'a load with other MCP servers keeps those of the attached clients',
    company: true,
    ours: true,
    script: [{ chunk: 'Here.' }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const other = await stage.another()
      stage.mustWork(await other.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] }), 'session/load')
      return stage.prompt(sessionId)
    },
    check: ({ stopReason }) => unless(stopReason === 'end_turn', 'the first client lost its session'),
    mutant: refusing('session/prompt'),
  }),
  one({
    row: 'A-LD-1',
    name: 'user messages have ids, like the others',
    script: TALK,
    play: (stage) => loaded(stage),
    check: ({ replayed }) =>
      unless(
        replayed
          .filter(({ sessionUpdate }) => sessionUpdate.endsWith('message_chunk'))
          .every(({ messageId }) => typeof messageId === 'string'),
        'no id',
      ),
    mutant: onUpdate('user_message_chunk', 'messageId', null),
  }),
]

export const resumeCases: readonly Case[] = [
  one({
    row: 'A-RS-1',
    name: 'a resume sends no earlier updates before its response',
    carried: true,
    play: (stage) => loaded(stage, 'session/resume'),
    check: ({ replayed }) => unless(!replayed.some(isSpoken), 'it replayed'),
    mutant: {
      on: { result: 'session/resume' },
      before: update({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Begin.' } }),
    },
  }),
  one({
    row: 'A-LD-7',
    name: 'a resume sends the context usage before its response',
    script: [{ usage: { used: 100, size: 1000 } }, { chunk: 'Yes.' }],
    play: (stage) => loaded(stage, 'session/resume'),
    check: ({ replayed }) =>
      unless(
        replayed.some(({ sessionUpdate, used }) => sessionUpdate === 'usage_update' && used === 100),
        'it does not',
      ),
    mutant: withoutUpdate('usage_update'),
  }),
  one({
    row: 'A-RS-2',
    name: 'the next prompt continues the conversation',
    play: async (stage) => {
      const { sessionId } = await loaded(stage, 'session/resume')
      return stage.prompt(sessionId, 'Again.')
    },
    check: ({ stopReason }) => unless(typeof stopReason === 'string', 'it does not'),
    mutant: { on: { result: 'session/prompt' }, nth: 2, drop: 'result.stopReason' },
  }),
  one({
    row: 'A-RS-3',
    name: 'a resume is answered with an object, with modes and options if there are any',
    play: (stage) => loaded(stage, 'session/resume'),
    check: (seen, transcript) => first(unless(seen.answer.result !== null, 'null'), law('A-CV-5')(seen, transcript)),
    mutant: onResult('session/resume', '', null),
  }),
  one({
    row: 'A-RS-4',
    name: 'mcpServers may be left out',
    play: async (stage) => {
      stage.needs('agentCapabilities.sessionCapabilities.resume')
      const sessionId = await stage.session()
      await stage.prompt(sessionId)
      await stage.again()
      return stage.a.request('session/resume', { sessionId, cwd: stage.cwd })
    },
    check: ({ error }) => unless(error === undefined, `refused: ${error?.message}`),
    mutant: refusing('session/resume'),
  }),
  one({
    row: 'A-RS-2',
    name: 'an unknown session is refused with -32002',
    play: async (stage) => {
      stage.needs('agentCapabilities.sessionCapabilities.resume')
      return stage.a.request('session/resume', { sessionId: 'no-such', cwd: stage.cwd })
    },
    check: isRefused(-32_002),
    mutant: accepting('session/resume'),
  }),
]
