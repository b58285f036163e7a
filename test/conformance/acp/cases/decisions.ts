/** What the standard leaves open and docs/internals/protocol.md decides, as far as one client can see it; the page names each by its name. */
import { rmSync } from 'node:fs'
import type { Fields, Message } from '../../../e2e/message.ts'
import { type Case, every, first, one, unless } from '../case.ts'
import { accepting, onResult, onUpdate, refusing, update } from '../mutant.ts'
import { fieldsOf, textOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { isRefused } from './json-rpc.ts'

const QUEUE = 32
const WORDS: readonly Fields[] = [{ chunk: 'w{n} ', times: 5 }]

/** A session with a turn, and the place of its last word: what follows that, a title for example, comes when it comes. */
async function talked(stage: Stage) {
  const sessionId = await stage.talked()
  const { params } = stage.a.received.findLast(isWord) ?? {}
  return { sessionId, seq: Number(fieldsOf(fieldsOf(params)['_meta'])['parley/seq']) }
}

function isWord({ method, params }: Message): boolean {
  return method === 'session/update' && fieldsOf(params?.['update'])['sessionUpdate'] === 'agent_message_chunk'
}

const seqs = (stage: Stage, mark: number): readonly unknown[] =>
  stage.a
    .since(mark)
    .entries.filter(({ message: { method } }) => method === 'session/update')
    .map(({ message: { params } }) => fieldsOf(params?.['_meta'])['parley/seq'])

const prompting = (sessionId: string, _meta: Fields = {}): Fields => ({
  sessionId,
  prompt: [{ type: 'text', text: 'Say hello.' }],
  _meta,
})

export const decisionCases: readonly Case[] = [
  one('A-PR-12', 'a prompt is refused when the queue is full', {
    tags: ['ours'],
    script: [{ chunk: 'on ' }, { sleepMs: 60_000 }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const asked = Array.from({ length: 1 + QUEUE + 1 }, () => stage.begin(sessionId))
      const refused = await stage.a.answerTo(asked.at(-1))
      stage.a.notify('session/cancel', { sessionId })
      for (const id of asked) await stage.a.answerTo(id)
      return refused
    },
    check: ({ error }) => unless(error?.data?.['code'] === 'QUEUE_FULL', `it was answered ${JSON.stringify(error)}`),
    mutant: { on: { error: 'session/prompt' }, instead: { id: '$id', result: { stopReason: 'cancelled' } } },
  }),
  one('A-PR-12', 'a prompt that is sent again with its id runs once, and is answered with the same end', {
    tags: ['ours'],
    script: WORDS,
    play: async (stage) => {
      const params = prompting(await stage.session(), { 'parley/promptId': 'mine' })
      const ends = [await stage.a.request('session/prompt', params), await stage.a.request('session/prompt', params)]
      return { ends: ends.map(({ result }) => result?.['stopReason']), said: textOf(updatesOf(stage.transcript)) }
    },
    check: ({ ends, said }) =>
      first(
        unless(ends.join(' ') === 'end_turn end_turn', `they ended ${ends.join(', ')}`),
        unless(said === 'w1 w2 w3 w4 w5 ', `it said ${said}`),
      ),
    mutant: { on: { call: 'session/update', update: 'agent_message_chunk' }, twice: true },
  }),
  one('A-RS-1', 'resume with a cursor: a client gets only what it missed, once and in order', {
    tags: ['carried', 'ours'],
    script: WORDS,
    play: async (stage) => {
      const { sessionId, seq } = await talked(stage)
      await stage.again()
      const { mark } = stage.a
      const params = { sessionId, cwd: stage.cwd, _meta: { 'parley/after': seq - 1 } }
      await stage.ask('session/resume', params)
      await stage.a.quiet(120)
      return { seq, told: textOf(updatesOf(stage.a.since(mark))), places: seqs(stage, mark) }
    },
    check: ({ told, places }) =>
      first(
        unless(told !== '' && 'w1 w2 w3 w4 w5 '.endsWith(told), `it told ${told}`),
        unless(new Set(places).size === places.length, 'two updates have one place'),
      ),
    mutant: {
      on: { result: 'session/resume' },
      after: update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'w1 ' } }),
    },
  }),
  one('A-RS-2', 'a cursor beyond the end is refused', {
    tags: ['ours'],
    play: async (stage) => {
      const { sessionId, seq } = await talked(stage)
      const _meta = { 'parley/after': seq + 1000 }
      return stage.a.request('session/resume', { sessionId, cwd: stage.cwd, _meta })
    },
    check: ({ error }) => unless(error?.data?.['code'] === 'CURSOR_BEYOND', `the error is ${JSON.stringify(error)}`),
    mutant: accepting('session/resume'),
  }),
  one('A-PR-11', 'a title that a user gave is not changed by the agent', {
    tags: ['ours'],
    script: [{ title: 'Another' }, { chunk: '.' }],
    play: async (stage) => {
      const sessionId = await stage.session()
      await stage.ask('_parley/rename', { sessionId, title: 'Mine' })
      await stage.prompt(sessionId)
      return updatesOf(stage.transcript, 'session_info_update', sessionId).flatMap(({ title }) => title ?? [])
    },
    check: (titles) =>
      unless(titles.length > 0 && titles.every((title) => title === 'Mine'), `it is ${JSON.stringify(titles)}`),
    mutant: onUpdate('session_info_update', 'title', 'Another'),
  }),
  one('A-MD-1', 'only a client that has the session open can set its mode', {
    tags: ['ours'],
    play: async (stage) => {
      const { sessionId } = await talked(stage)
      await stage.again()
      return stage.a.request('session/set_mode', { sessionId, modeId: 'any' })
    },
    check: ({ error }) => unless(error !== undefined, 'it was set'),
    mutant: accepting('session/set_mode'),
  }),
  one('A-AD-5', 'a session whose working directory is gone still loads, with a notice', {
    tags: ['ours'],
    play: async (stage) => {
      const cwd = stage.dir('moving')
      const sessionId = await stage.talked({ cwd })
      await stage.again()
      rmSync(cwd, { recursive: true })
      await stage.ask('session/load', { sessionId, cwd, mcpServers: [] })
      await stage.a.quiet()
      return textOf(updatesOf(stage.transcript))
    },
    check: (said) => unless(said.includes('is gone'), `it said ${said}`),
    mutant: onUpdate('agent_message_chunk', 'content.text', 'Hello.'),
  }),
  one('A-CL-3', 'a second close changes nothing, and an unknown session is not found', {
    tags: ['ours'],
    play: async (stage) => {
      const sessionId = await stage.session()
      const closed = [
        await stage.a.request('session/close', { sessionId }),
        await stage.a.request('session/close', { sessionId }),
      ]
      return { closed, never: await stage.a.request('session/close', { sessionId: 'no-such' }) }
    },
    check: ({ closed, never }) =>
      first(
        every(closed, ({ error }) => error === undefined, 'closing it again is an error'),
        isRefused(-32_002)(never),
      ),
    mutant: accepting('session/close'),
  }),
  one('A-PR-12', 'a prompt for an unopened session is refused: unknown, or to be loaded first', {
    tags: ['ours'],
    play: async (stage) => {
      const never = await stage.a.request('session/prompt', prompting('no-such'))
      const { sessionId } = await talked(stage)
      await stage.again()
      return [never, await stage.a.request('session/prompt', prompting(sessionId))].map(
        ({ error }) => error?.data?.['code'],
      )
    },
    check: (codes) =>
      unless(codes.join(' ') === 'SESSION_NOT_FOUND SESSION_NOT_ATTACHED', `the codes are ${codes.join(', ')}`),
    mutant: { on: { error: 'session/prompt' }, nth: 2, set: 'error.data.code', to: 'OTHER' },
  }),
  one('A-IN-11', 'a second initialize is answered as the first was', {
    tags: ['ours'],
    play: async (stage) => {
      const again = await stage.a.request('initialize', stage.introduction({ clientCapabilities: {} }))
      return { before: stage.offer, again: fieldsOf(again.result) }
    },
    check: ({ before, again }) => unless(JSON.stringify(before) === JSON.stringify(again), 'it is another answer'),
    mutant: { ...onResult('initialize', 'agentInfo.version', 'other'), nth: 2 },
  }),
  one('A-EX-4', 'a client that asked for the status of sessions gets it', {
    tags: ['ours'],
    client: { _meta: { 'parley/notifications': ['turn', 'queue', 'presence'] } },
    play: async (stage) => {
      await stage.prompt(await stage.session())
      await stage.a.quiet()
      return stage.a.received.flatMap(({ method = '' }) => (method.startsWith('_parley/') ? method : []))
    },
    check: (told) =>
      every(
        ['_parley/turn', '_parley/queue', '_parley/presence'],
        (name) => told.includes(name),
        `it told ${told.join(' ')}`,
      ),
    mutant: { on: { call: '_parley/presence' }, each: true, never: true },
  }),
  one('A-EX-1', 'extension methods are called by name and answered', {
    tags: ['ours'],
    play: async (stage) => {
      const { sessionId } = await talked(stage)
      const fork = await stage.ask('_parley/fork', { sessionId })
      const params = { sessionId: fork['sessionId'], cwd: stage.cwd, mcpServers: [] }
      await stage.ask('session/load', params)
      return stage.prompt(String(fork['sessionId']))
    },
    check: ({ stopReason }) => unless(stopReason === 'end_turn', 'the fork does not go on'),
    mutant: refusing('_parley/fork'),
  }),
]
