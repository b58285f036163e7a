/** Cancelling: of turns, and of requests. */
import type { Fields } from '../../../e2e/message.ts'
import { type Case, every, first, one, unless } from '../case.ts'
import { law } from '../laws.ts'
import { callOf, witness } from '../mcp.ts'
import { onResult, refusing, speakingAfter } from '../mutant.ts'
import { answersIn, textOf, updatesOf } from '../record.ts'
import type { Stage } from '../stage.ts'

const SLOW: readonly Fields[] = [{ chunk: 'on ', times: 2000, everyMs: 20 }]

async function cancelled(stage: Stage, cancel: (sessionId: string, id: unknown) => void, sessionMore: Fields = {}) {
  const sessionId = await stage.session(sessionMore)
  const id = stage.begin(sessionId)
  await stage.a.until(({ method }) => method === 'session/update', 'a sign of the turn')
  if (!stage.a.received.some(({ method }) => method === 'session/request_permission')) await stage.a.quiet(30)
  const begun = performance.now()
  cancel(sessionId, id)
  const answer = await stage.a.answerTo(id)
  await stage.a.quiet()
  return { id, answer, ms: performance.now() - begun }
}

const bySession = (stage: Stage) => (sessionId: string) => stage.a.notify('session/cancel', { sessionId })
const byRequest = (stage: Stage) => (_sessionId: string, requestId: unknown) =>
  stage.a.notify('$/cancel_request', { requestId })

export const cancelCases: readonly Case[] = [
  one('A-CA-1', 'a cancelled turn stops at once', {
    script: SLOW,
    play: (stage) => cancelled(stage, bySession(stage)),
    check: ({ ms, answer }) =>
      first(unless(ms < 20_000, `it took ${Math.round(ms)} ms`), unless(answer.result !== undefined, 'it is an error')),
    mutant: refusing('session/prompt', -32_800),
  }),
  one('A-CA-1', 'a cancel ends a tool that runs', {
    script: [callOf('think', { ms: 60_000 })],
    play: async (stage) => {
      const server = witness(stage, 'slow')
      const sessionId = await stage.session({ mcpServers: [server.entry] })
      const id = stage.begin(sessionId)
      await server.hears('tools/call')
      stage.a.notify('session/cancel', { sessionId })
      const answer = await stage.a.answerTo(id)
      await server.hears('notifications/cancelled')
      return answer
    },
    check: ({ result }) => unless(result?.['stopReason'] === 'cancelled', 'it did not end as cancelled'),
    mutant: onResult('session/prompt', 'stopReason', 'end_turn'),
  }),
  one('A-CA-2', 'the prompt of a cancelled turn is answered cancelled, never with an error', {
    script: SLOW,
    play: (stage) => cancelled(stage, bySession(stage)),
    check: ({ answer }) => unless(answer.result?.['stopReason'] === 'cancelled', JSON.stringify(answer).slice(0, 160)),
    mutant: refusing('session/prompt', -32_603),
  }),
  one('A-CA-2', 'a cancelled prompt of any agent is answered, never with an error', {
    play: async (stage) => {
      const sessionId = await stage.session()
      const id = stage.begin(sessionId, 'Count from one to five hundred, one number a line.')
      await stage.a.quiet(200)
      stage.a.notify('session/cancel', { sessionId })
      return stage.mustWork(await stage.a.answerTo(id), 'session/prompt')
    },
    check: ({ stopReason }) =>
      unless(['cancelled', 'end_turn'].includes(String(stopReason)), `it ended with ${String(stopReason)}`),
    mutant: onResult('session/prompt', 'stopReason', 'error'),
  }),
  one('A-CA-3', 'no update of the turn follows the response', {
    tags: ['carried'],
    script: SLOW,
    play: (stage) => cancelled(stage, bySession(stage)),
    check: law('A-PR-5'),
    mutant: speakingAfter('session/prompt'),
  }),
  one('A-CA-4', 'cancelling nothing, or what is not there, is ignored', {
    play: async (stage) => {
      const sessionId = await stage.session()
      await stage.a.quiet(150)
      const { mark } = stage.a
      stage.a.notify('session/cancel', { sessionId })
      stage.a.notify('session/cancel', { sessionId: 'no-such' })
      await stage.a.quiet(100)
      const said = answersIn(stage.a.since(mark))
      return { said, after: await stage.prompt(sessionId) }
    },
    check: ({ said, after }) =>
      first(
        unless(said.length === 0, 'it was answered'),
        unless(after['stopReason'] !== 'cancelled', 'the next prompt was cancelled'),
      ),
    mutant: onResult('session/prompt', 'stopReason', 'cancelled'),
  }),
  one('A-CR-1', '`$/cancel_request` of an unknown request is ignored, and so is any other `$/` notification', {
    play: async (stage) => {
      stage.a.notify('$/cancel_request', { requestId: 'none' })
      stage.a.notify('$/cancel_request', { requestId: {} })
      stage.a.notify('$/progress', {})
      await stage.a.quiet(100)
      return stage.session()
    },
    check: (id, transcript) => first(unless(id !== '', 'no session'), law('A-JR-1')(id, transcript)),
    mutant: { on: { result: 'session/new' }, twice: true },
  }),
  one('A-CR-2', 'a request that is cancelled is answered exactly once', {
    tags: ['carried'],
    play: async (stage) => {
      const id = stage.a.begin('session/new', { cwd: stage.cwd, mcpServers: [] })
      stage.a.notify('$/cancel_request', { requestId: id })
      const answer = await stage.a.answerTo(id)
      await stage.a.quiet()
      return { answer, count: stage.a.received.filter((one) => one.id === id).length }
    },
    check: ({ answer, count }) =>
      first(
        unless(count === 1, `${count} answers`),
        unless(
          answer.error === undefined || answer.error.code === -32_800 || answer.error.code === -32_000,
          'it is another error',
        ),
      ),
    mutant: { on: { response: 'session/new' }, twice: true },
  }),
  one('A-CR-3', 'a request that the agent itself cancels is answered with its own code', {
    tags: ['carried'],
    script: [{ chunk: 'on ' }, { sleepMs: 60_000 }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const running = stage.begin(sessionId)
      await stage.told('agent_message_chunk')
      const waiting = stage.begin(sessionId, 'waits')
      stage.a.notify('session/cancel', { sessionId })
      return [await stage.a.answerTo(running), await stage.a.answerTo(waiting)]
    },
    check: (answers) =>
      every(
        answers,
        ({ result, error }) => result?.['stopReason'] === 'cancelled' || error?.code === -32_800,
        'one is neither cancelled nor -32800',
      ),
    mutant: refusing('session/prompt', -32_603),
  }),
  one('A-CR-4', 'a prompt that is cancelled as a request is answered cancelled too', {
    tags: ['carried'],
    script: SLOW,
    play: (stage) => cancelled(stage, byRequest(stage)),
    check: ({ answer }) => unless(answer.result?.['stopReason'] === 'cancelled', JSON.stringify(answer).slice(0, 160)),
    mutant: refusing('session/prompt', -32_800),
  }),
  one('A-CR-4', 'a queued prompt that is cancelled as a request is withdrawn, and the running one continues', {
    tags: ['ours'],
    script: [{ chunk: 'w{n} ', times: 20, everyMs: 10 }],
    play: async (stage) => {
      const sessionId = await stage.session()
      const running = stage.begin(sessionId)
      const waiting = stage.begin(sessionId, 'waits')
      stage.a.notify('$/cancel_request', { requestId: waiting })
      const ends = [await stage.a.answerTo(waiting), await stage.a.answerTo(running)]
      return {
        reasons: ends.map(({ result }) => result?.['stopReason']).join(' '),
        said: textOf(updatesOf(stage.transcript)),
      }
    },
    check: ({ reasons, said }) =>
      first(
        unless(reasons === 'cancelled end_turn', reasons),
        unless(said.endsWith('w20 '), 'the running one was cut'),
      ),
    mutant: { on: { result: 'session/prompt' }, each: true, set: 'result.stopReason', to: 'cancelled' },
  }),
]
