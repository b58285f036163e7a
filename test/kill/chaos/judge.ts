/** What a run of chaos broke: the checks of the kill test, for clients that came and went at any time. */
import { type Message, type SeenUpdate, textOf } from '../../e2e/message.ts'
import { checkCalls } from '../check-calls.ts'
import { checkEffects } from '../check-effects.ts'
import { checkEnds } from '../check-ends.ts'
import { checkHoles } from '../check-holes.ts'
import { checkKept, checkOrder } from '../check-kept.ts'
import { checkTurns } from '../check-turns.ts'
import type { Answer, Evidence, Finding, JournalRow, SideEffect } from '../evidence.ts'
import type { Sent } from './goer.ts'

export interface Traces {
  readonly sent: readonly Sent[]
  readonly views: readonly (readonly [string, readonly SeenUpdate[]])[]
  readonly replay: readonly SeenUpdate[]
  readonly journal: readonly JournalRow[]
  readonly effects: readonly SideEffect[]
  /** Processes that are there still. */
  readonly stay: readonly string[]
  /** A part of the log was taken away, so what was seen may be gone; all else holds. */
  readonly isCutShort: boolean
  /** The prompt after all that. */
  readonly last: Sent
  readonly story: string
}

export function judge(traces: Traces): readonly Finding[] {
  const { sent, replay, journal, stay, isCutShort } = traces
  const evidence = evidenceOf(traces)
  return [
    ...(isCutShort ? [] : checkSeen(traces, evidence)),
    ...checkOrder('the last load', replay),
    ...checkCalls('the last load', replay, { journal }),
    ...checkTurns(evidence),
    ...checkEnds(evidence),
    ...checkHoles(journal),
    ...sent.flatMap(checkOneAnswer),
    ...checkLast(traces.last),
    ...stay.map((pid): Finding => ({ kind: 'wrong', what: `process ${pid} stays` })),
  ]
}

function checkSeen({ views, replay, journal }: Traces, evidence: Evidence): readonly Finding[] {
  return [
    ...views.flatMap(([who, updates]) => checkOrder(who, updates)),
    ...views.flatMap(([who, updates]) =>
      checkCalls(who, updates, { journal, from: who === 'the runner' ? Infinity : 0 }),
    ),
    ...views.flatMap(([who, updates]) =>
      who === 'the runner'
        ? checkWithin(who, updates, replay)
        : checkKept(who, updates.filter(isOfAgent), replay.filter(isOfAgent)),
    ),
    ...checkEffects(evidence),
  ]
}

/** Whose prompt was cut hears so in its response; the others are told it in words. */
function isOfAgent({ update }: SeenUpdate): boolean {
  return !String(update['messageId']).endsWith('-end')
}

/** Whoever came in the middle saw pieces of what the load tells. */
function checkWithin(who: string, updates: readonly SeenUpdate[], replay: readonly SeenUpdate[]): readonly Finding[] {
  const [seen, told] = [texts(updates), texts(replay)]
  const lost = [...seen].find(([messageId, text]) => !(told.get(messageId) ?? '').includes(text))
  return lost === undefined ? [] : [{ kind: 'lost', what: `${who} saw ${lost[0]} otherwise: …${lost[1].slice(-60)}` }]
}

function texts(updates: readonly SeenUpdate[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const seen of updates) {
    const messageId = String(seen.update['messageId'])
    texts.set(messageId, (texts.get(messageId) ?? '') + textOf(seen))
  }
  return texts
}

function evidenceOf({ sent, views, replay, journal, effects, isCutShort, story }: Traces): Evidence {
  const accepted = journal.filter(({ body }) => body.kind === 'prompt_accepted')
  const stored = new Map(accepted.map(({ body }) => [String(body['promptId']), wordsIn(body['content'])] as const))
  const answers = isCutShort
    ? []
    : sent.flatMap((one) => one.answers().flatMap((answer) => answerIn(one, answer, stored)))
  return {
    views: views.map(([, updates], index) => ({ updates, answers: index === 0 ? answers : [] })),
    replay,
    journal,
    effects,
    prompts: new Map([...sent.map(({ promptId, text }) => [promptId, text] as const), ...stored]),
    story,
  }
}

function wordsIn(content: unknown): string {
  return (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text).join('')
}

/**
 * A refusal says that nothing was stored, or that this could not be known: then the transcript says what became of it. Any
 * other error but that of a cut turn is the turn's own, and its end says so.
 */
function answerIn(
  { promptId }: Sent,
  { result, error }: Message,
  stored: ReadonlyMap<string, string>,
): readonly Answer[] {
  if (error === undefined) return [{ promptId, end: String(result?.['stopReason']) }]
  const code = String(error.data?.['code'])
  if (!stored.has(promptId) || /^(?:JOURNAL|SERVER|CLUSTER|NODE|SESSION)_/u.test(code)) return []
  return [{ promptId, end: code === 'TURN_INTERRUPTED' ? code : 'error' }]
}

function checkOneAnswer(sent: Sent): readonly Finding[] {
  const count = sent.answers().length
  if (count === 1 || (count === 0 && !sent.isOwed())) return []
  const kind = count === 0 ? 'without an end' : 'doubled'
  return [{ kind, what: `prompt ${sent.promptId} had ${count} answers` }]
}

function checkLast(last: Sent): readonly Finding[] {
  const [answer] = last.answers()
  const end = answer?.error?.message ?? String(answer?.result?.['stopReason'])
  return end === 'end_turn' ? [] : [{ kind: 'wrong', what: `the prompt after all that was answered ${end}` }]
}
