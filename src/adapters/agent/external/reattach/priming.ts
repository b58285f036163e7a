/**
 * What an agent is told of the session that its own conversation lacks: in its system prompt, where it takes one, or in front of
 * the next prompt.
 */
import type { AgentMemory, AgentSession, PastTurn } from '../../../../ports/agent.ts'
import type { AgentAbilities } from './abilities.ts'
import { type Rendered, asPreamble, budgetFor, renderTranscript, reseedWords } from './reseed.ts'

export class Priming {
  /** As users know the agent. */
  readonly #name: string
  readonly #session: AgentSession
  readonly #abilities: AgentAbilities

  constructor(name: string, session: AgentSession, abilities: AgentAbilities) {
    this.#name = name
    this.#session = session
    this.#abilities = abilities
  }

  /** All turns before the one that runs. */
  async rendered(): Promise<Rendered & { readonly upTo: number; readonly budget: number }> {
    let [last, running]: [number, number | undefined] = [0, undefined]
    const past = pastOnly(this.#session.pastTurns(0), (cursor) => (running = cursor))
    // What another agent has said of its model says nothing of this one's.
    const isOwnWindow = this.#session.memory !== undefined && this.#session.memory.standing !== 'outdated'
    const budget = budgetFor(isOwnWindow ? this.#session.windowTokens : undefined)
    const rendered = await renderTranscript(
      noting(past, (cursor) => (last = cursor)),
      budget,
    )
    return { ...rendered, upTo: running ?? last, budget }
  }

  /** What it got as system prompt when the conversation began: an agent need not have stored it. */
  async primed(memory: AgentMemory): Promise<object> {
    if (!this.#abilities.takesSystemPrompt) return {}
    return systemPrompt((await this.#renderedFor(memory))?.text ?? '')
  }

  /** The same for an agent that takes no system prompt any more, in front of the next prompt. */
  async unprimed(memory: AgentMemory): Promise<string> {
    const rendered = this.#abilities.takesSystemPrompt ? undefined : await this.#renderedFor(memory)
    if (rendered === undefined) return ''
    await this.#session.notice(reseedWords(this.#name, '', rendered))
    return asPreamble(rendered.text)
  }

  async #renderedFor({ primedBytes, upTo }: AgentMemory): Promise<Rendered | undefined> {
    if (primedBytes === undefined) return undefined
    return renderTranscript(upToCursor(pastOnly(this.#session.pastTurns(0)), upTo), primedBytes)
  }

  /** What is remembered of it when a conversation goes on. */
  primedAgain(primedBytes: number | undefined): { readonly primedBytes?: number } {
    return primedBytes === undefined || !this.#abilities.takesSystemPrompt ? {} : { primedBytes }
  }

  /** The turns after this entry, without the one that runs and those that the agent began by itself. */
  async transcript(after: number): Promise<readonly PastTurn[]> {
    const turns: PastTurn[] = []
    for await (const turn of pastOnly(this.#session.pastTurns(after))) {
      if (turn.by !== 'agent') turns.push(turn)
    }
    return turns
  }

  async lastTurn({ upTo }: AgentMemory): Promise<PastTurn | undefined> {
    return (await this.transcript(upTo)).at(-1)
  }
}

/** A part of the parameters that open a conversation. */
export function systemPrompt(text: string): object {
  return text === '' ? {} : { systemPrompt: { mode: 'append', content: [{ type: 'text', text }] } }
}

/** Without the turn that runs; `upTo` gets the last entry before it. */
async function* pastOnly(
  turns: AsyncIterable<PastTurn>,
  upTo: (cursor: number) => void = () => undefined,
): AsyncGenerator<PastTurn> {
  for await (const turn of turns) {
    if (turn.end === undefined && turn.by !== 'outside') upTo(turn.cursor - 1)
    else yield turn
  }
}

async function* noting(turns: AsyncIterable<PastTurn>, note: (cursor: number) => void): AsyncGenerator<PastTurn> {
  for await (const turn of turns) {
    note(turn.cursor)
    yield turn
  }
}

async function* upToCursor(turns: AsyncIterable<PastTurn>, last: number): AsyncGenerator<PastTurn> {
  for await (const turn of turns) {
    if (turn.cursor > last) return
    yield turn
  }
}
