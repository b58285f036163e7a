/** Seen is stored: what a client was shown is the beginning of what a later load tells, word for word and in the same order. */
import type { SeenUpdate } from '../e2e/message.ts'
import type { Finding } from './evidence.ts'
import { type Mark, type Part, type TextPart, isSaid, partsOf, words } from './transcript.ts'

/** Within one view every entry has a place of its own, and they come in order. */
export function checkOrder(who: string, updates: readonly SeenUpdate[]): readonly Finding[] {
  const said = updates.filter(isSaid)
  return said.flatMap(({ seq, update }, index): readonly Finding[] => {
    const before = said[index - 1]?.seq ?? 0
    if (seq > before) return []
    if (seq === before) return [{ kind: 'doubled', what: `${who} was told seq ${seq} twice (${update.sessionUpdate})` }]
    return [{ kind: 'wrong', what: `${who} was told seq ${seq} after ${before}` }]
  })
}

export function checkKept(who: string, seen: readonly SeenUpdate[], replay: readonly SeenUpdate[]): readonly Finding[] {
  const told = partsOf(replay)
  const shown = partsOf(seen)
  for (const [index, part] of shown.entries()) {
    const isLast = index === shown.length - 1
    const finding = compare({ who, part, told: told[index], isLast })
    // What follows a difference is no longer in step; one finding says it.
    if (finding !== undefined) return [finding]
  }
  return []
}

interface Comparison {
  readonly who: string
  readonly part: Part
  readonly told: Part | undefined
  /** Only the last thing that a client saw may go on in the replay. */
  readonly isLast: boolean
}

function compare({ who, part, told, isLast }: Comparison): Finding | undefined {
  const lost = (): Finding => ({ kind: 'lost', what: `${who} saw ${words(part)}; the load has ${words(told)}` })
  if (told === undefined || told.kind !== part.kind) return lost()
  if (part.kind === 'other' || told.kind === 'other')
    return compareOthers(part, told) ?? (sameJson(part, told) ? undefined : lost())
  const sameMessage = part.messageId === told.messageId && part.role === told.role
  const isKept = isLast ? told.text.startsWith(part.text) : told.text === part.text
  if (!sameMessage || !isKept) return lost()
  return compareMarks(who, part, told)
}

function sameJson(part: Part, told: Part): boolean {
  return part.kind === 'other' && told.kind === 'other' && part.json === told.json
}

function compareOthers(part: Part, told: Part): Finding | undefined {
  if (part.kind !== 'other' || told.kind !== 'other' || part.json !== told.json || part.seq === told.seq)
    return undefined
  return { kind: 'wrong', what: `seq ${part.seq} is ${told.seq} in the load: ${words(part)}` }
}

/** A chunk that came live with some `seq` lies in the merged chunk that ends at it or later. */
function compareMarks(who: string, part: TextPart, told: TextPart): Finding | undefined {
  let at = 0
  for (const mark of part.marks) {
    while ((told.marks[at]?.end ?? Infinity) < mark.end) at += 1
    const covering = told.marks[at]
    if (covering !== undefined && !covers(covering, mark))
      return { kind: 'wrong', what: `${who} saw seq ${mark.seq} where the load says ${covering.seq}: ${words(part)}` }
  }
  return undefined
}

function covers(covering: Mark, mark: Mark): boolean {
  return covering.end === mark.end ? covering.seq === mark.seq : covering.seq > mark.seq
}
