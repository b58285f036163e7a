/** Accepted ends once: in the journal, in the transcript, and in what the one who prompted was told. */
import type { Evidence, Finding, JournalRow } from './evidence.ts'
import { type ToldTurn, turnsOf } from './check-turns.ts'

export function checkEnds(evidence: Evidence): readonly Finding[] {
  const { journal, views, replay, prompts, story } = evidence
  const accepted = of(journal, 'prompt_accepted').map(({ body }) => String(body['promptId']))
  const ends = endsOf(journal)
  const turns = new Map(turnsOf(replay).map((turn) => [turn.prompt, turn]))
  return [
    ...accepted.flatMap((promptId) => checkOneEnd(promptId, ends.get(promptId) ?? [])),
    ...accepted.flatMap((promptId) => {
      const turn = turns.get(prompts.get(promptId) ?? '')
      return checkTold({ promptId, end: ends.get(promptId)?.[0], turn, story })
    }),
    ...views.flatMap(({ answers }) => answers.flatMap(({ promptId, end }) => checkAnswer(promptId, end, ends))),
  ]
}

function of(journal: readonly JournalRow[], kind: string): readonly JournalRow[] {
  return journal.filter(({ body }) => body.kind === kind)
}

type Ends = ReadonlyMap<string, readonly string[]>

function endsOf(journal: readonly JournalRow[]): Ends {
  const ends = new Map<string, string[]>()
  for (const { body } of [...of(journal, 'turn_ended'), ...of(journal, 'prompt_withdrawn')]) {
    const promptId = String(body['promptId'])
    const end = body.kind === 'turn_ended' ? String(body['stopReason']) : `withdrawn: ${String(body['reason'])}`
    ends.set(promptId, [...(ends.get(promptId) ?? []), end])
  }
  return ends
}

function checkOneEnd(promptId: string, ends: readonly string[]): readonly Finding[] {
  if (ends.length === 1) return []
  if (ends.length === 0) return [{ kind: 'without an end', what: `prompt ${promptId} was accepted and has no end` }]
  return [{ kind: 'doubled', what: `prompt ${promptId} ended ${ends.length} times: ${ends.join(', ')}` }]
}

interface Told {
  readonly promptId: string
  readonly end: string | undefined
  readonly turn: ToldTurn | undefined
  readonly story: string
}

/** A cut turn says so once, as its last word; one that ended well has said everything. */
function checkTold({ promptId, end, turn, story }: Told): readonly Finding[] {
  if (end === undefined || end.startsWith('withdrawn')) return []
  if (turn === undefined)
    return [{ kind: 'lost', what: `the load does not tell prompt ${promptId}, which ended ${end}` }]
  const { cuts, said } = turn
  if (end === 'interrupted')
    return cuts === 0 ? [mute(promptId)] : cuts > 1 ? [toldTwice(promptId, cuts)] : lastWord(promptId, turn)
  if (cuts > 0) return [{ kind: 'wrong', what: `prompt ${promptId} ended ${end}, but the load calls it interrupted` }]
  if (end === 'end_turn' && said !== story)
    return [{ kind: 'lost', what: `prompt ${promptId} ended well with ${said.length} of ${story.length} characters` }]
  return []
}

function mute(promptId: string): Finding {
  return { kind: 'without an end', what: `prompt ${promptId} was interrupted, and the load does not say so` }
}

function toldTwice(promptId: string, cuts: number): Finding {
  return { kind: 'doubled', what: `the end of prompt ${promptId} is told ${cuts} times` }
}

function lastWord(promptId: string, { updates }: ToldTurn): readonly Finding[] {
  const kinds = updates
    .map(({ update }) => update.sessionUpdate)
    .filter((kind) => !kind.endsWith('_update') || kind === 'tool_call_update')
  return kinds.at(-1) === 'agent_message_chunk'
    ? []
    : [{ kind: 'wrong', what: `something follows the end of prompt ${promptId}` }]
}

function checkAnswer(promptId: string, end: string, ends: Ends): readonly Finding[] {
  const stored = ends.get(promptId)?.[0]
  if (stored === undefined) return [{ kind: 'lost', what: `prompt ${promptId} was answered ${end}; no end is stored` }]
  const agrees = stored === end || (stored.startsWith('withdrawn') && end === 'cancelled') || end === 'TURN_INTERRUPTED'
  return agrees ? [] : [{ kind: 'wrong', what: `prompt ${promptId} was answered ${end}; stored is ${stored}` }]
}
