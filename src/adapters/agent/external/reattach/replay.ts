/** The replay of an agent's own conversation when it is loaded: shown to no client, and kept only to be compared. */
import type { PastPart } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Quirks } from '../quirks.ts'
import type { SaidUpdate } from '../updates/read-update.ts'

/** A turn as the agent has it. */
export interface ReplayedTurn {
  readonly prompt: string
  readonly parts: readonly PastPart[]
}

/** A replay whose updates do not end after its response is no longer waited for. */
const MAX_DRAIN_MS = 10_000

/** Some agents answer a load before its replay is over: waits until no update came for as long as the row says. */
export async function untilReplayed(
  replay: { readonly count: number },
  { replayAfterResponseMs }: Quirks,
  clock: Clock,
): Promise<void> {
  for (let waited = 0; waited < MAX_DRAIN_MS; waited += replayAfterResponseMs) {
    const before = replay.count
    await clock.sleep(replayAfterResponseMs)
    if (replay.count === before || replayAfterResponseMs === 0) return
  }
}

/** Characters of one turn that are kept. */
const MAX_TURN_CHARS = 256 * 1024

interface Open {
  prompt: string
  promptId: string | undefined
  parts: PastPart[]
  chars: number
}

export class Replay {
  readonly #pseudoUser: readonly string[]
  readonly #turns: Open[] = []
  /** How many updates came. */
  #count = 0

  /** A message of the user that begins with one of these was not typed by the user. */
  constructor(pseudoUser: readonly string[]) {
    this.#pseudoUser = pseudoUser
  }

  get count(): number {
    return this.#count
  }

  take(said: SaidUpdate): void {
    this.#count += 1
    if (said.kind === 'chunk' && said.content.type === 'text') this.#text(said, said.content.text)
    if (said.kind === 'chunk' && said.role === 'user' && said.content.type !== 'text') this.#user('', said.messageId)
    if (said.kind === 'call') this.#call(said)
  }

  get turns(): readonly ReplayedTurn[] {
    return this.#turns.flatMap(({ prompt, parts }) => {
      const isPseudo = this.#pseudoUser.some((beginning) => prompt.trimStart().startsWith(beginning))
      return isPseudo && parts.length === 0 ? [] : [{ prompt, parts }]
    })
  }

  #text({ role, messageId }: SaidUpdate & { readonly kind: 'chunk' }, text: string): void {
    if (role === 'user') return this.#user(text, messageId)
    const turn = this.#turns.at(-1)
    if (role === 'thought' || turn === undefined || turn.chars > MAX_TURN_CHARS) return
    turn.chars += text.length
    const last = turn.parts.at(-1)
    const isSame = last?.kind === 'text' && (messageId === undefined || last.messageId === messageId)
    if (isSame) turn.parts.splice(-1, 1, { ...last, text: last.text + text })
    else turn.parts.push({ kind: 'text', text, ...(messageId !== undefined && { messageId }) })
  }

  /** Chunks in a row are one prompt, unless they have other ids. A pseudo message is no prompt of its own. */
  #user(text: string, messageId: string | undefined): void {
    if (this.#pseudoUser.some((beginning) => text.trimStart().startsWith(beginning))) return
    const last = this.#turns.at(-1)
    const isMore = last !== undefined && last.parts.length === 0 && last.promptId === messageId
    if (isMore) last.prompt += last.prompt === '' ? text : `\n${text}`
    else this.#turns.push({ prompt: text, promptId: messageId, parts: [], chars: 0 })
  }

  #call({ toolCallId, patch }: SaidUpdate & { readonly kind: 'call' }): void {
    const turn = this.#turns.at(-1)
    if (turn === undefined || turn.parts.length > 1_000) return
    const at = turn.parts.findLastIndex((part) => part.kind === 'call' && part.toolCallId === toolCallId)
    const before = turn.parts[at]
    const { title, status = 'pending' } = before?.kind === 'call' ? before : { title: toolCallId }
    const call: PastPart = {
      kind: 'call',
      toolCallId,
      title: patch.title ?? title,
      status: patch.status ?? status,
      paths: patch.locations?.map(({ path }) => path) ?? [],
      diffs: [],
    }
    if (before === undefined) turn.parts.push(call)
    else turn.parts.splice(at, 1, call)
  }
}
