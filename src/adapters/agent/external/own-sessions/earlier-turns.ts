/** Collects the replay of a session that is imported, as the turns that it had: nothing of it is shortened. */
import type { EarlierTurn, EarlierUpdate } from '../../../../ports/agent.ts'
import type { Content } from '../../../../ports/values/content.ts'
import type { Quirks } from '../quirks.ts'
import type { SaidUpdate } from '../updates/read-update.ts'
import { TerminalOutputs } from '../updates/terminal-output.ts'
import { PROTOCOL } from '../updates/turn-updates.ts'

/** Of all updates of one session, as JSON. A longer session is not imported, for it is held in memory as a whole. */
const MAX_CHARS = 128 * 1024 * 1024

interface Open {
  readonly prompt: Content[]
  readonly promptId: string | undefined
  readonly said: EarlierUpdate[]
}

type Chunk = SaidUpdate & { readonly kind: 'chunk' }

export class EarlierTurns {
  readonly #quirks: Pick<Quirks, 'pseudoUser' | 'textNoise'>
  readonly #terminals = new TerminalOutputs()
  #turns: Open[] = []
  #chars = 0
  /** How many updates came. */
  count = 0

  constructor(quirks: Pick<Quirks, 'pseudoUser' | 'textNoise'>) {
    this.#quirks = quirks
  }

  get isTooLong(): boolean {
    return this.#chars > MAX_CHARS
  }

  get all(): readonly EarlierTurn[] {
    return this.#turns.filter(({ prompt, said }) => prompt.length > 0 || said.length > 0)
  }

  take(said: SaidUpdate): void {
    this.count += 1
    if (this.isTooLong) return
    this.#chars += JSON.stringify(said).length
    if (this.isTooLong) this.#turns = []
    else this.#keep(said)
  }

  #keep(said: SaidUpdate): void {
    switch (said.kind) {
      case 'chunk':
        return said.role === 'user' ? this.#asked(said) : this.#answered(said)
      case 'call': {
        const { kind, toolCallId, patch, raw } = said
        return this.#add({ kind, toolCallId, patch: this.#terminals.apply(toolCallId, patch, raw) })
      }
      case 'plan':
        return this.#add(said)
      case 'foreign':
        return this.#add({ kind: 'foreign', protocol: PROTOCOL, update: said.update })
      default:
        // The rest is about how the session was, not about what was said in it.
        return undefined
    }
  }

  /** Chunks in a row are one prompt, unless they have other ids. */
  #asked({ content, messageId }: Chunk): void {
    if (content.type === 'text' && beginsWith(content.text, this.#quirks.pseudoUser)) return
    const last = this.#turns.at(-1)
    const isMore = last !== undefined && last.said.length === 0 && last.promptId === messageId
    if (isMore) last.prompt.push(content)
    else this.#turns.push({ prompt: [content], promptId: messageId, said: [] })
  }

  #answered({ role, content, messageId }: Chunk): void {
    if (role === 'user' || (content.type === 'text' && content.text === '')) return
    const isNoise = role === 'agent' && content.type === 'text' && beginsWith(content.text, this.#quirks.textNoise)
    if (isNoise)
      this.#add({
        kind: 'foreign',
        protocol: PROTOCOL,
        update: { sessionUpdate: 'agent_message_chunk', content },
      })
    else this.#add({ kind: 'chunk', role, content, ...(messageId !== undefined && { messageId }) })
  }

  #add(update: EarlierUpdate): void {
    const last = this.#turns.at(-1)
    if (last === undefined) this.#turns.push({ prompt: [], promptId: undefined, said: [update] })
    else last.said.push(update)
  }
}

function beginsWith(text: string, beginnings: readonly string[]): boolean {
  return beginnings.some((beginning) => text.trimStart().startsWith(beginning))
}
