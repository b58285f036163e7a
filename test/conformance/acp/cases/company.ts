/** What docs/internals/protocol.md decides for several clients in one session. */
import type { Fields, Message } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import type { LineConnection } from '../line-connection.ts'
import { onResult, onUpdate, withoutUpdate } from '../mutant.ts'
import { fieldsOf, textOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'
import { terminalAnswers } from './new.ts'

const SLOW: readonly Fields[] = [{ chunk: 'w{n} ', times: 40, everyMs: 5 }]
const ALL = Array.from({ length: 40 }, (_, at) => `w${at + 1} `).join('')
const READS = { fs: { readTextFile: true } }
/** Much more than anybody is owed in memory. */
const FLOOD: readonly Fields[] = [{ chunk: `${'flood '.repeat(80)}{n} `, times: 5000 }]

const saidTo = (other: LineConnection, kind?: string): string => textOf(updatesOf(other.transcript), kind)

const isPhase = (phase: string) => (message: Message) =>
  fieldsOf(fieldsOf(message.params?.['update'])['_meta'])['parley/phase'] === phase

/** Leaves while its turn runs, without a word. */
async function leavesInTurn(stage: Stage, other: LineConnection, said: string): Promise<string> {
  await stage.a.leave()
  await other.until(() => saidTo(other).includes(said), 'the last word')
  return saidTo(other)
}

export const companyCases: readonly Case[] = [
  one('A-PR-12', 'a prompt is sent with its text to the other clients, and without it to its sender', {
    tags: ['company', 'ours'],
    play: async (stage) => {
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId)
      await stage.prompt(sessionId, 'My words.')
      await other.until(() => saidTo(other).includes('Hello.'), 'the answer')
      return [stage.a, other].map((one) => saidTo(one, 'user_message_chunk'))
    },
    check: ([mine, theirs]) =>
      first(unless(theirs === 'My words.', `the other has ${theirs}`), unless(mine === '', 'its sender has them too')),
    mutant: withoutUpdate('user_message_chunk'),
  }),
  one('A-CA-1', 'a cancel by another client ends the running turn, and not the sender’s queued prompts', {
    tags: ['company', 'ours'],
    script: SLOW,
    play: async (stage) => {
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId)
      const asked = [stage.begin(sessionId, 'one'), stage.begin(sessionId, 'two')]
      await other.until(() => saidTo(other).includes('w2 '), 'a sign of the turn')
      other.notify('session/cancel', { sessionId })
      const answers = [await stage.a.answerTo(asked[0]), await stage.a.answerTo(asked[1])]
      return answers.map(({ result }) => result?.['stopReason']).join(' ')
    },
    check: (ends) => unless(ends === 'cancelled end_turn', `they ended ${ends}`),
    mutant: { ...onResult('session/prompt', 'stopReason', 'cancelled'), nth: 2 },
  }),
  one('A-TR-7', 'a turn continues when its client disconnects', {
    tags: ['carried', 'company', 'ours'],
    script: SLOW,
    play: async (stage) => {
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId)
      stage.begin(sessionId)
      await stage.told('agent_message_chunk')
      return leavesInTurn(stage, other, 'w40 ')
    },
    check: (said) => unless(said === ALL, `the other has ${said}`),
    mutant: { on: { call: 'session/update', update: 'agent_message_chunk' }, each: true, twice: true },
  }),
  one('A-PM-1', 'a permission request with no client attached waits, and is sent to the next client', {
    tags: ['company', 'ours'],
    script: [{ permission: { toolCallId: 'ask', title: 'May I?' } }, { chunk: 'Gone on.' }],
    play: async (stage) => {
      stage.answers({ 'session/request_permission': () => undefined })
      const sessionId = await stage.session()
      stage.begin(sessionId)
      await stage.question()
      await stage.a.leave()
      const other = await stage.another()
      const outcome = { outcome: { outcome: 'selected', optionId: 'allow_once' } }
      stage.answers({ 'session/request_permission': () => outcome }, other)
      await other.request('session/load', { sessionId, cwd: stage.cwd, mcpServers: [] })
      await stage.question(other)
      await other.until(() => saidTo(other).includes('Gone on.'), 'what comes after the question')
      return saidTo(other)
    },
    check: (said) => unless(said === 'Gone on.', `it said ${said}`),
    mutant: onUpdate('agent_message_chunk', 'content.text', 'Gone on. Twice.'),
  }),
  one('A-CL-4', 'a client is notified when another closes and reopens the session, and continues in it', {
    tags: ['company', 'ours'],
    play: async (stage) => {
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId)
      await stage.ask('session/close', { sessionId }, other)
      await stage.a.until(isPhase('closed'), 'word of the end')
      await stage.load(sessionId, other)
      await stage.a.until(isPhase('idle'), 'word of the beginning')
      return stage.prompt(sessionId)
    },
    check: ({ stopReason }) => unless(stopReason === 'end_turn', 'it cannot prompt again'),
    mutant: { on: { call: 'session/update', update: 'session_info_update' }, each: true, drop: 'params.update._meta' },
  }),
  one('A-DL-3', 'deleting a session that another client has open ends it for both', {
    tags: ['company', 'ours'],
    play: async (stage) => {
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId)
      await stage.ask('session/delete', { sessionId }, other)
      await stage.a.until(isPhase('deleted'), 'word of the end')
      return stage.a.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'on' }] })
    },
    check: ({ error }) =>
      unless(error?.data?.['code'] === 'SESSION_NOT_FOUND', `the code is ${String(error?.data?.['code'])}`),
    mutant: { on: { error: 'session/prompt' }, set: 'error.data.code', to: 'SESSION_CLOSED' },
  }),
  one('A-FS-2', 'a client that disconnects during a request ends the wait, and the turn continues', {
    tags: ['carried', 'company', 'ours'],
    client: READS,
    script: [{ readFile: { path: 'a.txt' } }, { chunk: 'Gone on.' }],
    play: async (stage) => {
      stage.script([{ readFile: { path: `${stage.cwd}/a.txt` } }, { chunk: 'Gone on.' }])
      stage.answers({ 'fs/read_text_file': () => undefined })
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId, {})
      stage.begin(sessionId)
      await stage.a.until(({ method }) => method === 'fs/read_text_file', 'a file to be asked for')
      return leavesInTurn(stage, other, 'Gone on.')
    },
    check: (said) => unless(said.endsWith('Gone on.'), `the other has ${said}`),
    mutant: onUpdate('agent_message_chunk', 'content.text', 'Gone on. Twice.'),
  }),
  one('A-TC-6', 'a terminal is shown by the client that has it, and sent to the others as text', {
    tags: ['company', 'ours'],
    client: { terminal: true },
    script: [{ terminal: { command: 'make' } }, { chunk: '.' }],
    play: async (stage) => {
      stage.answers(terminalAnswers)
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId, { terminal: true })
      await stage.prompt(sessionId)
      await other.until(() => saidTo(other).endsWith('.'), 'the end of the turn')
      const shown = (one: LineConnection) => JSON.stringify(updatesOf(one.transcript, 'tool_call_update'))
      return { mine: shown(stage.a), theirs: shown(other) }
    },
    check: ({ mine, theirs }) =>
      first(
        unless(mine.includes('"type":"terminal"'), 'its own client cannot show it'),
        unless(!theirs.includes('"type":"terminal"') && theirs.includes('out\\n'), `the other was told ${theirs}`),
      ),
    mutant: onUpdate('tool_call_update', 'content', [{ type: 'terminal', terminalId: 'term-1' }]),
  }),
  one('A-JR-7', 'a client that does not read delays no other, and gets the rest when it reads again', {
    tags: ['carried', 'company', 'ours'],
    script: FLOOD,
    play: async (stage) => {
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId)
      other.ends.output.pause()
      await stage.prompt(sessionId)
      other.ends.output.resume()
      await other.until(({ params }) => JSON.stringify(params?.['update'] ?? '').includes(' 5000 '), 'the last word')
      return { mine: saidTo(stage.a), theirs: saidTo(other) }
    },
    check: ({ mine, theirs }) => unless(mine === theirs, `of ${mine.length} characters it has ${theirs.length}`),
    mutant: { on: { call: 'session/update', update: 'agent_message_chunk' }, nth: 100, twice: true },
  }),
]
