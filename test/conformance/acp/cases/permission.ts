/** Questions, and what counts as an answer. */
import type { Fields } from '../../../e2e/message.ts'
import { type Case, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { witness } from '../mcp.ts'
import { onResult, onUpdate } from '../mutant.ts'
import { type Told, fieldsOf, listOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'

const ASKS: readonly Fields[] = [
  { permission: { toolCallId: 'ask', title: 'Runs it', toolCall: { name: 'echo', arguments: { text: 'x' } } } },
  { chunk: 'Gone on.' },
]

interface Answered {
  readonly question: Fields
  readonly stopReason: unknown
  /** Whether the tool ran. */
  readonly ran: boolean
  readonly told: readonly Told[]
}

/** A turn whose question gets this answer. */
async function answered(stage: Stage, answer: Fields): Promise<Answered> {
  const server = witness(stage, 'words')
  stage.answers({ 'session/request_permission': () => answer })
  const { stopReason } = await stage.prompt(await stage.session({ mcpServers: [server.entry] }))
  const question = fieldsOf(stage.a.received.find(({ method }) => method === 'session/request_permission')?.params)
  const ran = server.heard().some(({ method }) => method === 'tools/call')
  return { question, stopReason, ran, told: updatesOf(stage.transcript) }
}

const choose = (optionId: string): Fields => ({ outcome: { outcome: 'selected', optionId } })

const NO_ANSWERS: readonly (readonly [string, Fields])[] = [
  ['no option was chosen', { outcome: { outcome: 'cancelled' } }],
  ['an option was chosen that was not offered', choose('allow_everything')],
  ['the answer is no outcome', { yes: true }],
  ['the answer is an error', { error: { code: -32_603, message: 'Broken.' } }],
  ['the answer is no', choose('reject_once')],
]

export const permissionCases: readonly Case[] = [
  one('A-PM-1', 'a permission request names its session, its call and its options', {
    tags: ['carried'],
    script: ASKS,
    play: (stage) => answered(stage, choose('allow_once')),
    check: ({ question, ran }, transcript) =>
      first(
        unless(ran, 'what was allowed did not run'),
        unless(typeof fieldsOf(question['toolCall'])['toolCallId'] === 'string', 'it names no call'),
        unless(listOf(question['options']).length > 1, 'it has no options'),
        law('A-PM-1')(question, transcript),
      ),
    mutant: { on: { call: 'session/request_permission' }, set: 'params.options.1.optionId', to: 'allow_once' },
  }),
  ...NO_ANSWERS.map(([what, answer]) =>
    one('A-PM-2', `nothing runs when ${what}`, {
      script: ASKS,
      play: (stage) => answered(stage, answer),
      check: ({ ran, told }) =>
        first(
          unless(!ran, 'it ran'),
          unless(
            told.some(({ toolCallId, status }) => toolCallId === 'ask' && status === 'failed'),
            'the call is not failed',
          ),
        ),
      mutant: onUpdate('tool_call_update', 'status', 'completed'),
    }),
  ),
  ...['session/cancel', 'session/close'].map((way) =>
    one('A-PM-3', `while a question waits, ${way} ends the turn`, {
      tags: ['carried'],
      script: ASKS,
      play: async (stage) => {
        stage.answers({ 'session/request_permission': () => undefined })
        const sessionId = await stage.session()
        const prompt = stage.begin(sessionId)
        await stage.question()
        if (way === 'session/cancel') stage.a.notify(way, { sessionId })
        else await stage.a.request(way, { sessionId })
        return stage.a.answerTo(prompt)
      },
      check: ({ result }) => unless(result?.['stopReason'] === 'cancelled', 'it did not end as cancelled'),
      mutant: onResult('session/prompt', 'stopReason', 'end_turn'),
    }),
  ),
  one('A-TC-3', 'an allowed call is in progress before it is completed', {
    script: ASKS,
    play: (stage) => answered(stage, choose('allow_once')),
    check: ({ told }) => {
      const statuses = told.filter(({ toolCallId }) => toolCallId === 'ask').map(({ status }) => status)
      return unless(
        statuses.includes('in_progress') && statuses.at(-1) === 'completed',
        `it went ${statuses.join(', ')}`,
      )
    },
    mutant: onUpdate('tool_call_update', 'status', 'pending'),
  }),
  one('A-PM-1', 'of two clients the first valid permission answer counts, and the other’s request is withdrawn', {
    tags: ['carried', 'company'],
    script: ASKS,
    play: async (stage) => {
      const wait = { 'session/request_permission': () => undefined }
      stage.answers(wait)
      const sessionId = await stage.session()
      const other = await stage.joined(sessionId)
      stage.answers(wait, other)
      const prompt = stage.begin(sessionId)
      const [mine, theirs] = [await stage.question(), await stage.question(other)]
      stage.a.send({ id: mine.id, result: choose('reject_once') })
      const withdrawn = await other.until(({ method }) => method === '$/cancel_request', 'a withdrawal')
      other.send({ id: theirs.id, result: choose('allow_once') })
      const { result } = await stage.a.answerTo(prompt)
      return { ended: result?.['stopReason'], same: withdrawn.params?.['requestId'] === theirs.id }
    },
    check: ({ ended, same }) =>
      unless(ended === 'end_turn' && same, 'the other is not told, or the turn did not go on'),
    mutant: { on: { call: '$/cancel_request' }, set: 'params.requestId', to: 'other' },
  }),
]
