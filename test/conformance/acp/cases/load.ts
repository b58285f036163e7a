/** session/load: the whole conversation, then the answer, then on as before. */
import type { Fields, Message } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import {
  accepting,
  onNthUpdate,
  onResult,
  onUpdate,
  refusing,
  speakingAfter,
  update,
  withoutUpdate,
} from '../mutant.ts'
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

const nothingAfter = ({ late, replayed }: Loaded): string | undefined =>
  first(
    unless(replayed.some(isSpoken), 'nothing was told'),
    unless(!late.some(isSpoken), 'something came after the answer'),
  )

const USED: readonly Fields[] = [{ usage: { used: 100, size: 1000 } }, { chunk: 'Yes.' }]
const hasUsage = ({ replayed }: Loaded): string | undefined => {
  const told = replayed.some(({ sessionUpdate, used }) => sessionUpdate === 'usage_update' && used === 100)
  return unless(told, 'it does not')
}

export const loadCases: readonly Case[] = [
  one('A-LD-1', 'a load replays the whole conversation: user, agent, thoughts, tool calls, plans', {
    tags: ['carried'],
    script: TALK,
    play: (stage) => loaded(stage),
    check: ({ live, replayed }) =>
      first(
        unless(textOf(replayed, 'user_message_chunk') === 'Begin.', 'the user’s words are missing'),
        unless(JSON.stringify(gist(replayed)) === JSON.stringify(gist(live)), 'it is not what was told live'),
      ),
    mutant: withoutUpdate('user_message_chunk'),
  }),
  one('A-LD-2', 'a load is answered after all updates of the history, and none comes after the response', {
    tags: ['carried'],
    script: TALK,
    play: (stage) => loaded(stage),
    check: nothingAfter,
    mutant: speakingAfter('session/load'),
  }),
  one('A-LD-2', 'a load by any agent sends updates, and none after its response', {
    play: (stage) => loaded(stage),
    check: nothingAfter,
    mutant: speakingAfter('session/load'),
  }),
  one('A-LD-3', 'a load is answered with an object', {
    play: (stage) => loaded(stage),
    check: ({ answer }) => unless(typeof answer.result === 'object' && answer.result !== null, 'it answered null'),
    mutant: onResult('session/load', '', null),
  }),
  one('A-LD-4', 'the next prompt continues the conversation', {
    script: TALK,
    play: async (stage) => {
      const { sessionId } = await loaded(stage)
      return stage.prompt(sessionId, 'Again.')
    },
    check: ({ stopReason }) => unless(stopReason === 'end_turn', `it ended with ${String(stopReason)}`),
    mutant: { on: { result: 'session/prompt' }, nth: 2, set: 'result.stopReason', to: 'refusal' },
  }),
  one('A-LD-5', 'an unknown session is refused with -32002', {
    play: async (stage) => {
      stage.needs('agentCapabilities.loadSession')
      return stage.a.request('session/load', { sessionId: 'no-such', cwd: stage.cwd, mcpServers: [] })
    },
    check: isRefused(-32_002),
    mutant: accepting('session/load'),
  }),
  one('A-LD-6', 'messages of a replay have the ids that they had live', {
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
    mutant: onNthUpdate(21, 'agent_message_chunk', ['messageId', 'other']),
  }),
  one('A-LD-7', 'a load sends the context usage before its response', {
    script: USED,
    play: (stage) => loaded(stage),
    check: hasUsage,
    mutant: withoutUpdate('usage_update'),
  }),
  one('A-LD-1', 'a load during a turn sends all entries so far, then live updates', {
    tags: ['carried', 'company'],
    script: [{ chunk: 'w{n} ', times: 40, everyMs: 5 }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const prompt = stage.begin(sessionId)
      await stage.told('agent_message_chunk')
      const other = await stage.another()
      await stage.load(sessionId, other)
      await stage.a.answerTo(prompt)
      const said = (on: typeof other) => textOf(updatesOf(on.transcript, undefined, sessionId))
      await other.until(() => said(other).includes('w40'), 'the last word')
      return { one: said(stage.a), other: said(other) }
    },
    check: (said) => unless(said.one === said.other, `the second client has ${said.other}`),
    mutant: { on: { call: 'session/update', update: 'agent_message_chunk' }, nth: 2, twice: true },
  }),
  one('A-LD-4', 'a load with other MCP servers keeps those of the attached clients', {
    tags: ['company', 'ours'],
    script: [{ chunk: 'Here.' }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const other = await stage.another()
      await stage.load(sessionId, other)
      return stage.prompt(sessionId)
    },
    check: ({ stopReason }) => unless(stopReason === 'end_turn', 'the first client lost its session'),
    mutant: refusing('session/prompt'),
  }),
  one('A-LD-1', 'user messages have ids, like the others', {
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
  one('A-RS-1', 'a resume sends no earlier updates before its response', {
    tags: ['carried'],
    play: (stage) => loaded(stage, 'session/resume'),
    check: ({ replayed }) => unless(!replayed.some(isSpoken), 'it replayed'),
    mutant: {
      on: { result: 'session/resume' },
      before: update({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Begin.' } }),
    },
  }),
  one('A-LD-7', 'a resume sends the context usage before its response', {
    script: USED,
    play: (stage) => loaded(stage, 'session/resume'),
    check: hasUsage,
    mutant: withoutUpdate('usage_update'),
  }),
  one('A-RS-2', 'the next prompt continues the conversation', {
    play: async (stage) => {
      const { sessionId } = await loaded(stage, 'session/resume')
      return stage.prompt(sessionId, 'Again.')
    },
    check: ({ stopReason }) => unless(typeof stopReason === 'string', 'it does not'),
    mutant: { on: { result: 'session/prompt' }, nth: 2, drop: 'result.stopReason' },
  }),
  one('A-RS-3', 'a resume is answered with an object, with modes and options if there are any', {
    play: (stage) => loaded(stage, 'session/resume'),
    check: (seen, transcript) => first(unless(seen.answer.result !== null, 'null'), law('A-CV-5')(seen, transcript)),
    mutant: onResult('session/resume', '', null),
  }),
  one('A-RS-4', 'mcpServers may be left out', {
    play: async (stage) => {
      stage.needs('agentCapabilities.sessionCapabilities.resume')
      const sessionId = await stage.talked()
      await stage.again()
      return stage.a.request('session/resume', { sessionId, cwd: stage.cwd })
    },
    check: ({ error }) => unless(error === undefined, `refused: ${error?.message}`),
    mutant: refusing('session/resume'),
  }),
  one('A-RS-2', 'an unknown session is refused with -32002', {
    play: async (stage) => {
      stage.needs('agentCapabilities.sessionCapabilities.resume')
      return stage.a.request('session/resume', { sessionId: 'no-such', cwd: stage.cwd })
    },
    check: isRefused(-32_002),
    mutant: accepting('session/resume'),
  }),
]
