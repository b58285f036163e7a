/** A call whose server wants input before it goes on: stored, so that it can be asked for again by another owner, and gone on with. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { ClientPeer } from '../../ports/client.ts'
import type { Elicitation, ElicitationAnswer } from '../../ports/elicitation.ts'
import type { Faults } from '../../ports/fault.ts'
import type { ToolInputResponse, ToolInputRequest } from '../../ports/tools.ts'
import type { AskingHost } from '../client-services/client-request.ts'
import type { AgentEvent } from '../domain/commands.ts'
import { elicitThrough } from '../client-services/elicitations.ts'
import type { AskingMode } from '../subscribers/attached-clients.ts'
import type { ElicitationBroker } from './elicitation-broker.ts'

export interface InputRequiredHost {
  readonly faults: Faults
  /** What it takes to ask; `lent` is the client of the prompt. */
  readonly asking: AskingHost
  readonly askable: (mode: AskingMode) => ClientPeer | undefined
  readonly whenJoined: (listener: () => void) => () => void
  /** Resolves when that is durable, or with false when the turn was over before. */
  readonly store: (event: AgentEvent) => Promise<boolean>
}

export interface PausedCall {
  readonly name: string
  readonly toolCallId: string
  readonly resume: unknown
  readonly asking: ElicitationBroker
}

export class InputRequired {
  readonly #host: InputRequiredHost

  constructor(host: InputRequiredHost) {
    this.#host = host
  }

  /**
   * What the server wants, once that is stored, and once it is stored that the call goes on with it. `isKept`: it was stored
   * before, by this owner or another. Throws TOOL_CANCELLED.
   */
  async inputFor(pause: ToolInputRequest, call: PausedCall, isKept: boolean): Promise<ToolInputResponse> {
    const { store, faults } = this.#host
    const { name, toolCallId, resume, asking } = call
    const stored = isKept || (await store({ kind: 'tool_input_requested', toolCallId, input: pause, resume }))
    if (!stored) return fail('TOOL_CANCELLED', { tool: name })
    await faults.at('call.paused')
    const input: Record<string, ElicitationAnswer> = {}
    // One after the other: a person has two hands and one screen.
    for (const [key, question] of Object.entries(pause.questions))
      input[key] = await this.#answer(question, asking, isKept)
    // The cancel that ends a question is no answer to it.
    if (this.#host.asking.signal.aborted) return fail('TOOL_CANCELLED', { tool: name })
    if (!(await store({ kind: 'tool_input_resolved', toolCallId }))) return fail('TOOL_CANCELLED', { tool: name })
    await faults.at('call.continued')
    return input
  }

  /** Whoever leaves has not answered: the next who can be asked is. */
  async #answer(question: Elicitation, asking: ElicitationBroker, isKept: boolean): Promise<ElicitationAnswer> {
    const own = this.#host.asking.lent()
    // Whoever sent the prompt is here and cannot be asked so: to wait for another would be to wait for nobody.
    if (!isKept && own !== undefined && own[question.mode] === undefined) return asking.answer(question, undefined)
    while (!this.#host.asking.signal.aborted) {
      const client = await this.#someone(question.mode)
      if (client === undefined) break
      try {
        return await asking.answer(question, elicitThrough(client, this.#host.asking), hasLeft)
      } catch {
        // It has left; only that is thrown.
      }
    }
    return { action: 'cancel' }
  }

  /** Waits for whoever can be asked; undefined when the turn is cancelled meanwhile. */
  async #someone(mode: AskingMode): Promise<ClientPeer | undefined> {
    const { askable, whenJoined, asking } = this.#host
    const { signal } = asking
    while (!signal.aborted) {
      const client = askable(mode)
      if (client !== undefined) return client
      await new Promise<void>((resolve) => {
        const stop = whenJoined(over)
        function over(): void {
          stop()
          signal.removeEventListener('abort', over)
          resolve()
        }
        signal.addEventListener('abort', over, { once: true })
      })
    }
    return undefined
  }
}

function hasLeft(error: unknown): boolean {
  return isParleyError(error, 'CLIENT_GONE')
}
