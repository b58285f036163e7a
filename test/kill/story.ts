/** The script that every turn of the kill test plays: 2,000 numbered chunks in bursts, with all that may happen between them. */
import type { Fields } from '../e2e/message.ts'
import type { Chance } from '../series/chance.ts'

export const CHUNKS = 2_000
const BURSTS = 8

export interface Story {
  readonly steps: readonly Fields[]
  /** What an agent that plays it from beginning to end has said, thoughts included. */
  readonly text: string
}

/** Every chunk of the story has words of its own: one that is missing, doubled or out of place shows. */
export function storyOf(chance: Chance, chunks = CHUNKS): Story {
  const bursts = Array.from({ length: BURSTS }, (_, index) => burst(index + 1, chance, chunks / BURSTS))
  const events = [thought(1), call('c1'), plan(), question('p1', 'p1-tool'), call('c2'), thought(2), question('p2')]
  const steps = bursts.flatMap((lines, index) => lines.concat(events[index] ?? [], pause(chance)))
  return { steps, text: steps.map(textOfStep).join('') }
}

/** Some bursts come at once, as fast as the disk takes them; some trickle. */
function burst(number: number, chance: Chance, times: number): readonly Fields[] {
  const slow = chance.happens(0.5) ? chance.between(5, 25) : 0
  return [
    { chunk: `b${number}-{n} of the tale; `, times: times - slow },
    ...(slow === 0 ? [] : [{ chunk: `s${number}-{n} slowly; `, times: slow, everyMs: 1 }]),
  ]
}

function thought(number: number): readonly Fields[] {
  return [{ thought: `thought ${number}, with “quotes”, 汉字 and \n a line; ` }]
}

function plan(): readonly Fields[] {
  return [{ plan: ['read the tale', { content: 'tell the tale', priority: 'high', status: 'in_progress' }] }]
}

/** A call whose only effect can be counted. */
function call(label: string): readonly Fields[] {
  return [{ toolCall: { toolCallId: label, name: 'append', arguments: { label } } }]
}

function question(id: string, label?: string): readonly Fields[] {
  const toolCall = label === undefined ? {} : { toolCall: { name: 'append', arguments: { label } } }
  return [{ permission: { toolCallId: id, title: 'May the tale go on?', ...toolCall } }]
}

function pause(chance: Chance): Fields {
  return { sleepMs: chance.between(1, 12) }
}

function textOfStep(step: Fields): string {
  if (typeof step['thought'] === 'string') return step['thought']
  const { chunk, times } = step
  if (typeof chunk !== 'string') return ''
  return Array.from({ length: Number(times) }, (_, index) => chunk.replace('{n}', String(index + 1))).join('')
}
