/** A tool call whose MCP server needs input from the user before it continues. The request is stored, so that it survives a restart. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { ClientPeer } from '../../ports/client-peer.ts'
import type { Elicitation, ElicitationAnswer } from '../../ports/values/elicitation.ts'
import type { ToolInputResponse, ToolInputRequest } from '../../ports/tools.ts'
import { elicitThrough } from '../client-services/elicitations.ts'
import type { AskingMode } from '../subscribers/subscribers.ts'
import type { LiveTurn } from '../turn/live-turn.ts'
import type { ElicitationBroker } from './elicitation-broker.ts'

export interface PausedCall {
  readonly name: string
  readonly toolCallId: string
  readonly resume: unknown
  readonly asking: ElicitationBroker
}

export class InputRequired {
  readonly #turn: LiveTurn

  constructor(turn: LiveTurn) {
    this.#turn = turn
  }

  /**
   * Asks the user for what the server wants. The request is stored before it is asked, unless `isStored`; that the call
   * continues is stored before this resolves. Throws TOOL_CANCELLED.
   */
  async inputFor(request: ToolInputRequest, call: PausedCall, isStored: boolean): Promise<ToolInputResponse> {
    const { signal, ports } = this.#turn
    const { name, toolCallId, resume, asking } = call
    const requested = { kind: 'tool_input_requested', toolCallId, input: request, resume } as const
    if (!isStored && !(await this.#turn.store(requested))) return fail('TOOL_CANCELLED', { tool: name })
    await ports.faults.at('call.paused')
    const input: Record<string, ElicitationAnswer> = {}
    // One after the other: a user sees one question at a time.
    for (const [key, question] of Object.entries(request.questions))
      input[key] = await this.#answer(question, asking, isStored)
    // A question that the cancel of the turn ended was not answered.
    if (signal.aborted || !(await this.#turn.store({ kind: 'tool_input_resolved', toolCallId })))
      return fail('TOOL_CANCELLED', { tool: name })
    await ports.faults.at('call.continued')
    return input
  }

  /** When the client leaves before it answers, the next client that can be asked is asked. */
  async #answer(question: Elicitation, asking: ElicitationBroker, isStored: boolean): Promise<ElicitationAnswer> {
    const { signal, peer } = this.#turn
    // The client of the prompt is connected and cannot ask its user: no other client would be asked either.
    if (!isStored && peer !== undefined && peer[question.mode] === undefined) return asking.answer(question, undefined)
    while (!signal.aborted) {
      const client = await this.#clientFor(question.mode)
      if (client === undefined) break
      try {
        return await asking.answer(question, elicitThrough(client, this.#turn), hasLeft)
      } catch {
        // `hasLeft` lets no other error through.
      }
    }
    return { action: 'cancel' }
  }

  /** Waits for a client that can ask its user; undefined when the turn is cancelled meanwhile. */
  async #clientFor(mode: AskingMode): Promise<ClientPeer | undefined> {
    const { signal, clients, promptId } = this.#turn
    while (!signal.aborted) {
      const client = clients.askable(promptId, mode)
      if (client !== undefined) return client
      await new Promise<void>((resolve) => {
        const stop = clients.whenJoined(over)
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
