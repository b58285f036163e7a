/** One scripted answer while it is written: the sayings as the events that every format has. */
import type { Failure, Saying, ScriptedStop, ScriptedUsage } from './script.ts'

/** What a format makes bytes of. */
export type Event =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly id: string; readonly name: string; readonly json: string }
  | { readonly kind: 'raw'; readonly raw: string }
  | { readonly kind: 'end'; readonly stop: ScriptedStop; readonly usage: ScriptedUsage }

/** What the server does instead of writing. */
export type Deed =
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'silence' | 'cut' | 'over' }
  | { readonly kind: 'fail'; readonly fail: Failure; readonly retryAfter?: string; readonly words?: string }
  | { readonly kind: 'replay'; readonly replay: string; readonly everyBytes: number }
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly body: string
      readonly headers: Readonly<Record<string, string>>
    }

const NO_USAGE: ScriptedUsage = { input: 100, output: 10 }

/** The events of an answer, made as they are needed: a flood never stands in memory. */
export function* eventsOf(sayings: readonly Saying[], newId: () => string): Generator<Event | Deed> {
  let calls = 0
  let stop: ScriptedStop | undefined
  let usage = NO_USAGE
  for (const saying of sayings) {
    if ('usage' in saying) usage = saying.usage
    else if ('stop' in saying) stop = saying.stop
    else if ('call' in saying) yield callOf(saying, { index: calls++, newId })
    else if ('text' in saying) yield* pieces(saying, 'text')
    else if ('reasoning' in saying) yield* pieces({ ...saying, text: saying.reasoning }, 'reasoning')
    else if ('raw' in saying) yield { kind: 'raw', raw: saying.raw }
    else yield deedOf(saying)
  }
  yield { kind: 'end', stop: stop ?? (calls > 0 ? 'calls' : 'stop'), usage }
}

function callOf(
  { call, args = {}, raw, id }: Extract<Saying, { call: string }>,
  { index, newId }: { readonly index: number; readonly newId: () => string },
): Event {
  return { kind: 'call', index, id: id ?? newId(), name: call, json: raw ?? JSON.stringify(args) }
}

function* pieces(
  { text, times = 1, everyMs = 0 }: { text: string | readonly string[]; times?: number; everyMs?: number },
  kind: 'text' | 'reasoning',
): Generator<Event | Deed> {
  const all = typeof text === 'string' ? [text] : text
  let isFirst = true
  for (let n = 1; n <= times; n += 1)
    for (const piece of all) {
      if (everyMs > 0 && !isFirst) yield { kind: 'sleep', ms: everyMs }
      isFirst = false
      yield { kind, text: piece.replaceAll('{n}', String(n)).replaceAll('{at}', () => String(Date.now())) }
    }
}

type Deeds = Extract<
  Saying,
  | { sleepMs: number }
  | { silence: true }
  | { cut: true }
  | { over: true }
  | { fail: Failure }
  | { replay: string }
  | { status: number }
>

function deedOf(saying: Deeds): Deed {
  if ('sleepMs' in saying) return { kind: 'sleep', ms: saying.sleepMs }
  if ('silence' in saying) return { kind: 'silence' }
  if ('cut' in saying) return { kind: 'cut' }
  if ('over' in saying) return { kind: 'over' }
  if ('fail' in saying) return { kind: 'fail', ...saying }
  if ('replay' in saying) return { kind: 'replay', ...saying }
  return { kind: 'answer', status: saying.status, body: saying.body, headers: saying.headers ?? {} }
}
