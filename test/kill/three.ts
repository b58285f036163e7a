/**
 * One run with three clients: the server is killed in mid-turn with two relays and a follower attached. Afterwards each has every
 * entry once and in order, each open prompt has had one answer, the next prompt works, and no process stays.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Message, type SeenUpdate, updatesIn } from '../e2e/message.ts'
import type { RawClient } from '../e2e/raw-client.ts'
import { chanceOf } from './chance.ts'
import { checkEffects } from './check-effects.ts'
import { checkEnds } from './check-ends.ts'
import { checkOrder } from './check-kept.ts'
import { checkTurns } from './check-turns.ts'
import type { Answer, Evidence, Finding } from './evidence.ts'
import { readEffects, readJournal } from './journal-file.ts'
import { CHUNKS, storyOf } from './story.ts'
import { type Follower, Town, patiently } from './town.ts'
import { partsOf } from './transcript.ts'

export interface ThreeResult {
  readonly seed: number
  /** The prompt that ran had had no answer when the power went. */
  readonly inMidTurn: boolean
  readonly findings: readonly Finding[]
}

export interface ThreeOptions {
  readonly bin?: string
  readonly keep?: boolean
}

interface Sent {
  readonly relay: RawClient
  readonly id: number
  readonly promptId: string
  readonly text: string
}

export async function runThree(seed: number, { bin, keep }: ThreeOptions = {}): Promise<ThreeResult> {
  const chance = chanceOf(seed)
  const story = storyOf(chance)
  const town = await Town.found(story.steps, bin)
  const run = new Three(town, story.text)
  try {
    const inMidTurn = await run.play(chance.between(1, CHUNKS), chance.between(0, 8))
    return { seed, inMidTurn, findings: await run.judge() }
  } catch (error) {
    return {
      seed,
      inMidTurn: true,
      findings: [{ kind: 'without an end', what: `the run broke off: ${String(error)}` }],
    }
  } finally {
    await town.raze(keep)
  }
}

class Three {
  readonly #town: Town
  readonly #story: string
  readonly #sent: Sent[] = []
  readonly #relays: RawClient[] = []
  #follower: Follower | undefined
  #sessionId = ''

  constructor(town: Town, story: string) {
    this.#town = town
    this.#story = story
  }

  /** Kills the server so long after that many messages; whether a turn was running then. */
  async play(message: number, afterMs: number): Promise<boolean> {
    const [one, other] = await this.#attach()
    const from = one.received.length
    const first = this.#prompt(one)
    this.#prompt(other)
    await patiently('the first words', heard(one, from + message, first.id))
    await sleep(afterMs)
    const inMidTurn = !isAnswered(first)
    await this.#town.killServer()
    for (const sent of this.#sent) await patiently(`the answer of ${sent.promptId}`, sent.relay.answerTo(sent.id))
    const last = this.#prompt(other)
    await patiently('the answer of the next prompt', other.answerTo(last.id))
    return inMidTurn
  }

  async judge(): Promise<readonly Finding[]> {
    const reader = await this.#town.relay()
    const opening = { sessionId: this.#sessionId, ...this.#town.opening('reader') }
    await patiently('the last load', reader.request('session/load', opening))
    const replay = updatesIn(reader.received)
    const views = await this.#views(replay)
    const journal = readJournal(this.#town.home, this.#sessionId)
    const stay = await this.#town.empty()
    const evidence: Evidence = {
      views: this.#relays.map((relay) => ({ updates: updatesIn(relay.received), answers: this.#answersTo(relay) })),
      replay,
      journal,
      effects: readEffects(this.#town.effects),
      prompts: new Map(this.#sent.map(({ promptId, text }) => [promptId, text])),
      story: this.#story,
    }
    return [
      ...views.flatMap(([who, updates]) => checkOrder(who, updates).concat(checkWhole(who, updates, replay))),
      ...this.#sent.flatMap(checkOneAnswer),
      ...checkNext(this.#sent.at(-1)),
      ...checkTurns(evidence),
      ...checkEnds(evidence),
      ...checkEffects(evidence),
      ...stay.map((pid): Finding => ({ kind: 'wrong', what: `process ${pid} stays` })),
    ]
  }

  async #attach(): Promise<readonly [RawClient, RawClient]> {
    const one = await this.#town.relay()
    const { result } = await one.request('session/new', this.#town.opening('one'))
    this.#sessionId = String(result?.['sessionId'])
    const other = await this.#town.relay()
    await other.request('session/load', { sessionId: this.#sessionId, cwd: this.#town.cwd, mcpServers: [] })
    this.#follower = this.#town.follow(this.#sessionId)
    this.#relays.push(one, other)
    // Both say yes, at once: one of them wins.
    for (const relay of this.#relays) relay.listen((message) => allow(relay, message))
    return [one, other]
  }

  #prompt(relay: RawClient): Sent {
    const number = this.#sent.length + 1
    const [promptId, text] = [`prompt-${number}`, `Tell the tale, for the ${number}. time.`]
    const prompt = [{ type: 'text', text }]
    const params = { sessionId: this.#sessionId, prompt, _meta: { 'parley/promptId': promptId } }
    const sent = { relay, id: relay.ask('session/prompt', params), promptId, text }
    this.#sent.push(sent)
    return sent
  }

  /** What each of the three was told, once all of them have heard the last word. */
  async #views(replay: readonly SeenUpdate[]): Promise<readonly (readonly [string, readonly SeenUpdate[]])[]> {
    const last = replay.findLast(({ update }) => update.sessionUpdate.endsWith('_chunk'))?.seq ?? 0
    const has = (messages: readonly Message[]) => updatesIn(messages).some(({ seq }) => seq >= last)
    const [one, other] = this.#relays
    for (const relay of this.#relays)
      await patiently(
        'the last word',
        relay.until(() => has(relay.received)),
      )
    await patiently(
      'the last word at the follower',
      this.#follower?.until(() => has(this.#follower?.messages ?? [])) ?? Promise.resolve(),
    )
    return [
      ['the first relay', updatesIn(one?.received ?? [])],
      ['the second relay', updatesIn(other?.received ?? [])],
      ['the follower', updatesIn(this.#follower?.messages ?? [])],
    ]
  }

  #answersTo(relay: RawClient): readonly Answer[] {
    return this.#sent
      .filter((sent) => sent.relay === relay)
      .flatMap(({ id, promptId }) => answersOf(relay, id).map((answer) => ({ promptId, end: endIn(answer) })))
  }
}

/** So many messages, or the end of the turn if that comes first. */
async function heard(relay: RawClient, count: number, id: number): Promise<void> {
  await relay.until((message) => relay.received.length >= count || (message.id === id && message.method === undefined))
}

function allow(relay: RawClient, { id, method }: Message): void {
  if (method !== 'session/request_permission') return
  relay.reply(id, { outcome: { outcome: 'selected', optionId: 'allow_once' } })
}

function answersOf({ received }: RawClient, id: number): readonly Message[] {
  return received.filter((message) => message.id === id && message.method === undefined)
}

function isAnswered({ relay, id }: Sent): boolean {
  return answersOf(relay, id).length > 0
}

function endIn({ result, error }: Message): string {
  return String(result?.['stopReason'] ?? error?.data?.['code'])
}

function checkOneAnswer({ relay, id, promptId }: Sent): readonly Finding[] {
  const count = answersOf(relay, id).length
  if (count === 1) return []
  const kind = count === 0 ? 'without an end' : 'doubled'
  return [{ kind, what: `prompt ${promptId} had ${count} answers` }]
}

function checkNext(last: Sent | undefined): readonly Finding[] {
  const end = last === undefined ? undefined : answersOf(last.relay, last.id).map(endIn)[0]
  return end === 'end_turn' ? [] : [{ kind: 'wrong', what: `the prompt after the kill was answered ${end}` }]
}

/** Whoever was there from the first word to the last has all of it. Whose prompt was cut hears so in its response instead. */
function checkWhole(who: string, updates: readonly SeenUpdate[], replay: readonly SeenUpdate[]): readonly Finding[] {
  const seen = partsOf(updates.filter(isOfAgent)).map(textless)
  const told = partsOf(replay.filter(isOfAgent)).map(textless)
  const at = told.findIndex((part, index) => JSON.stringify(part) !== JSON.stringify(seen[index]))
  if (at === -1 && seen.length === told.length) return []
  const place = at === -1 ? told.length : at
  const partOf = (parts: typeof told) => JSON.stringify(parts[place] ?? 'nothing').slice(0, 200)
  return [{ kind: 'lost', what: `${who} has ${partOf(seen)} where the load has ${partOf(told)}` }]
}

function isOfAgent({ update }: SeenUpdate): boolean {
  return !String(update['messageId']).endsWith('-end')
}

/** How a text was cut into chunks is not part of it. */
function textless(part: ReturnType<typeof partsOf>[number]) {
  if (part.kind === 'other') return part
  const { messageId, role, text } = part
  return { messageId, role, text }
}
