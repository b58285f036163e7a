/** Each turn of the last load says the story from its beginning, every chunk once, and the whole of it when it ended well. */
import { type Fields, type SeenUpdate, textOf } from '../e2e/message.ts'
import type { Evidence, Finding } from './evidence.ts'

const FAILED = 'This turn failed: '
const CUT = /it may have run|was not run/i
export const INTERRUPTED = 'Interrupted: the server stopped'

/** What a load tells between one prompt and the next. */
export interface ToldTurn {
  readonly prompt: string
  readonly updates: readonly SeenUpdate[]
  /** What the agent said, without what the server added. */
  readonly said: string
  /** How many times it is said that the turn was cut. */
  readonly cuts: number
}

export function turnsOf(replay: readonly SeenUpdate[]): readonly ToldTurn[] {
  const turns: { prompt: string; updates: SeenUpdate[] }[] = []
  for (const seen of replay) {
    if (seen.update.sessionUpdate === 'user_message_chunk') turns.push({ prompt: textOf(seen), updates: [] })
    else turns.at(-1)?.updates.push(seen)
  }
  return turns.map(({ prompt, updates }) => {
    const texts = updates.filter((seen) => !isNotice(seen)).map(textOf)
    const isCut = (text: string): boolean => text.startsWith(INTERRUPTED)
    return {
      prompt,
      updates,
      said: texts.filter((text) => !isCut(text) && !text.startsWith(FAILED)).join(''),
      cuts: texts.filter(isCut).length,
    }
  })
}

/** What the server itself has to say in the middle of a turn, as that it could not read a file. */
function isNotice({ update }: SeenUpdate): boolean {
  return String(update['messageId']).startsWith('notice-')
}

export function checkTurns(evidence: Evidence): readonly Finding[] {
  const { replay, story, prompts } = evidence
  const turns = turnsOf(replay)
  return [
    ...turns.flatMap(({ said, prompt }) => checkSaid(prompt, said, story)),
    ...turns.flatMap(({ updates, prompt }) => checkCalls(prompt, updates)),
    ...checkCuts(evidence),
    ...checkPrompts(
      turns.map(({ prompt }) => prompt),
      [...prompts.values()],
    ),
  ]
}

function checkSaid(prompt: string, said: string, story: string): readonly Finding[] {
  if (story.startsWith(said)) return []
  const chunks = said.split('; ').filter((chunk) => chunk !== '')
  const twice = chunks.find((chunk, index) => chunks.indexOf(chunk) !== index)
  if (twice !== undefined) return [{ kind: 'doubled', what: `“${twice}” is told twice in the turn of “${prompt}”` }]
  const at = chunks.findIndex((_chunk, index) => !story.startsWith(chunks.slice(0, index + 1).join('; ')))
  return [{ kind: 'lost', what: `before “${chunks[at]}” something is missing in the turn of “${prompt}”` }]
}

/** Each call is announced once and comes to one end. */
function checkCalls(prompt: string, updates: readonly SeenUpdate[]): readonly Finding[] {
  const calls = new Map<string, SeenUpdate[]>()
  for (const seen of updates) {
    const id = seen.update['toolCallId']
    if (typeof id === 'string') calls.set(id, [...(calls.get(id) ?? []), seen])
  }
  return [...calls].flatMap(([id, told]) => checkCall(`${id} in the turn of “${prompt}”`, told))
}

function checkCall(what: string, told: readonly SeenUpdate[]): readonly Finding[] {
  const announced = told.filter(({ update }) => update.sessionUpdate === 'tool_call').length
  const ends = told.filter(({ update }) => update['status'] === 'completed' || update['status'] === 'failed').length
  return [
    ...(announced > 1 ? [{ kind: 'doubled', what: `call ${what} is announced ${announced} times` } as const] : []),
    ...(announced === 0 ? [{ kind: 'lost', what: `call ${what} is never announced` } as const] : []),
    ...(ends === 0 ? [{ kind: 'without an end', what: `call ${what} stays open` } as const] : []),
    ...(ends > 1 ? [{ kind: 'doubled', what: `call ${what} ends ${ends} times` } as const] : []),
  ]
}

/** The tool of the story never fails: a call that began and failed was cut, and says that it may have run, or surely did not. */
function checkCuts({ journal }: Evidence): readonly Finding[] {
  const begun = new Set<string>()
  return journal.flatMap(({ body }): readonly Finding[] => {
    const { status, content } = (body['patch'] ?? {}) as Fields
    const id = String(body['toolCallId'])
    if (status === 'in_progress') begun.add(id)
    if ((status !== 'failed' && status !== 'cancelled') || !begun.has(id) || CUT.test(JSON.stringify(content ?? '')))
      return []
    return [
      { kind: 'wrong', what: `call ${id} was cut, and does not say that it may have run: ${JSON.stringify(content)}` },
    ]
  })
}

function checkPrompts(told: readonly string[], sent: readonly string[]): readonly Finding[] {
  return told.flatMap((prompt, index): readonly Finding[] => {
    if (!sent.includes(prompt))
      return [{ kind: 'wrong', what: `the load tells a prompt that nobody sent: “${prompt}”` }]
    return told.indexOf(prompt) === index ? [] : [{ kind: 'doubled', what: `the prompt “${prompt}” is told twice` }]
  })
}
