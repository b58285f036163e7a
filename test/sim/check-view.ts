/** Promises 1 and 4: what a client was told of a session is what v1 makes of the journal, every entry once, in order, without a gap. */
import { updateOf } from '../../src/edge/acp/v1/render/entry-to-update.ts'
import type { Entry } from '../../src/session/domain/entries.ts'
import { type SeenUpdate, type Update, textOf } from '../e2e/message.ts'
import { callIn, isUndone, saysAll } from './check-calls.ts'
import type { Finding } from './oversight.ts'
import { STATE_ONLY, type Told, type View, isOfState } from './view.ts'

/** One entry as v1 has a word for it. */
interface Item {
  readonly seq: number
  readonly update: Update
  readonly json: string
  /** Pieces of one message, which a replay tells as one, share it. */
  readonly message: string | undefined
  readonly text: string
  /** Its sender is told of it in another way, or knows it. */
  readonly promptId: string | undefined
  readonly isEcho: boolean
}

export interface Judged {
  readonly who: string
  readonly view: View
  readonly entries: readonly Entry[]
  /** Prompts that this connection sent or took over. */
  readonly own: ReadonlySet<string>
  /** Those of them that were sent once, on this connection: their echo must not come. */
  readonly sentOnce: ReadonlySet<string>
  /** Everything has been delivered: what is missing now is lost. */
  readonly isComplete: boolean
  /** What it had not been told by then can no longer be read. */
  readonly isDeleted: boolean
}

export function checkView(judged: Judged): readonly Finding[] {
  return new ViewCheck(judged).run()
}

class ViewCheck {
  readonly #judged: Judged
  readonly #items: readonly Item[]
  #at = 0

  constructor(judged: Judged) {
    this.#judged = judged
    const { entries, view } = judged
    this.#items = entries.slice(view.from).flatMap(itemOf)
  }

  run(): readonly Finding[] {
    for (const told of this.#judged.view.told) {
      const what = told.kind === 'answer' ? this.#answer(told) : isOfState(told.seen) ? undefined : this.#update(told)
      if (what !== undefined) return [this.#finding(what)]
    }
    const missing = this.#judged.isComplete ? this.#missing(Infinity) : undefined
    return missing === undefined ? [] : [this.#finding(`is never told ${words(missing)}`)]
  }

  #finding(what: string): Finding {
    const { who, view } = this.#judged
    return { promise: 4, what: `${who} in ${view.sessionId} from ${view.from}: ${what}` }
  }

  #update(told: Told & { readonly kind: 'update' }): string | undefined {
    const { seen, replayed, mayBeReplayed } = told
    const { message, json } = itemOfUpdate(seen.seq, seen.update)
    if (callIn(seen.update) !== undefined) return this.#call(seen)
    while (this.#item !== undefined && !this.#fits(json, message) && this.#mayBeHidden(this.#item, replayed))
      this.#at += 1
    const first = this.#item
    if (first === undefined || !this.#fits(json, message))
      return `is told ${seen.seq} ${json.slice(0, 120)} where ${words(first)} comes`
    if (first.isEcho && !mayBeReplayed && this.#judged.sentOnce.has(first.promptId ?? ''))
      return `is told its own ${words(first)}`
    return message === undefined ? this.#one(first, seen.seq) : this.#merged(message, told)
  }

  #call({ seq, update }: SeenUpdate): string | undefined {
    const said: Item[] = []
    for (let item = this.#item; item !== undefined && item.seq <= seq; item = this.#item) {
      const later = this.#items.slice(this.#at + 1)
      if (callIn(item.update) === callIn(update)) said.push(item)
      else if (!this.#mayBeHidden(item, false) && !isUndone(item, later)) break
      this.#at += 1
    }
    const isWhole = said.at(-1)?.seq === seq && saysAll(update, said, this.#items.slice(this.#at))
    return isWhole ? undefined : `is told ${seq} ${JSON.stringify(update).slice(0, 120)} where ${words(said[0])} comes`
  }

  #one(item: Item, seq: number): string | undefined {
    this.#at += 1
    return item.seq === seq ? undefined : `is told ${words(item)} as ${seq}`
  }

  #merged(message: string, { seen }: Told & { readonly kind: 'update' }): string | undefined {
    const whole = textOf(seen)
    let text = ''
    let last = 0
    while (this.#item?.message === message && text.length < whole.length) {
      text += this.#item.text
      last = this.#item.seq
      this.#at += 1
    }
    return text === whole && last === seen.seq ? undefined : `is told “${whole}” as ${seen.seq}; “${text}” is ${last}`
  }

  get #item(): Item | undefined {
    return this.#items[this.#at]
  }

  #fits(json: string, message: string | undefined): boolean {
    const item = this.#item
    return item !== undefined && (message === undefined ? item.json === json : item.message === message)
  }

  #mayBeHidden({ promptId, isEcho }: Item, replayed: boolean): boolean {
    const { own, view } = this.#judged
    return promptId !== undefined && own.has(promptId) && !(isEcho && replayed && view.from === 0)
  }

  /** A response comes after all that was said up to the end of its prompt. */
  #answer({ request }: Told & { readonly kind: 'answer' }): string | undefined {
    const stopReason = request.answers[0]?.result?.['stopReason']
    const id = request.promptId ?? this.#acceptedAs(request.words)
    const end = this.#judged.entries.find((entry) => isEndOf(entry, id))
    const { view, isDeleted } = this.#judged
    if (stopReason === undefined || end === undefined || isDeleted || view.isLeft) return undefined
    const missing = this.#missing(end.seq)
    return missing === undefined ? undefined : `hears of the end of ${id} before ${words(missing)}`
  }

  #acceptedAs(said: string | undefined): string | undefined {
    const accepted = this.#judged.entries.find((entry) => isAcceptedAs(entry, said))
    return accepted !== undefined && 'promptId' in accepted ? accepted.promptId : undefined
  }

  #missing(until: number): Item | undefined {
    return this.#items.slice(this.#at).find((item) => item.seq <= until && !this.#mayBeHidden(item, false))
  }
}

export function isAcceptedAs(entry: Entry, said: string | undefined): boolean {
  if (entry.kind !== 'prompt_accepted') return false
  const [content] = entry.content
  return content?.type === 'text' && content.text === said
}

function isEndOf(entry: Entry, promptId: string | undefined): boolean {
  return (entry.kind === 'turn_ended' || entry.kind === 'prompt_withdrawn') && entry.promptId === promptId
}

function itemOf(entry: Entry): readonly Item[] {
  const update = updateOf(entry)
  if (update === undefined || STATE_ONLY.has(update.sessionUpdate)) return []
  const isEcho = entry.kind === 'message_chunk' && entry.role === 'user'
  const promptId = (isEcho || entry.kind === 'turn_ended') && 'promptId' in entry ? entry.promptId : undefined
  return [{ ...itemOfUpdate(entry.seq, update), promptId, isEcho }]
}

function itemOfUpdate(seq: number, update: Update): Item {
  const text = textOf({ sessionId: '', seq, update })
  const isPiece = text !== '' && update.sessionUpdate !== 'user_message_chunk'
  const message = isPiece ? `${update.sessionUpdate} ${String(update['messageId'])}` : undefined
  return { seq, update, json: JSON.stringify(update), message, text, promptId: undefined, isEcho: false }
}

function words(item: Item | undefined): string {
  return item === undefined ? 'nothing' : `${item.seq} ${item.json.slice(0, 120)}`
}
