/** What an agent asks of the user: each request goes to the turn in which the agent asks, or is answered at once. */
import { isParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import type { ElicitationAnswer } from '../../../../ports/values/elicitation.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { Quirks } from '../quirks.ts'
import type { OwnTurn } from '../turn/own-turn.ts'
import type { TurnUpdates } from '../updates/turn-updates.ts'
import { answerOf, formFor } from './blocking-request.ts'
import { AgentElicitations } from './elicitation.ts'
import { CANCELLED, askPermission } from './permission.ts'

/** The agent, as far as its requests need it. */
export interface AskingAgent {
  /** Its conversation is being reopened: whatever it asks was asked before. */
  readonly isReplaying: boolean
  /** The turn of the prompt that it works on. */
  readonly promptTurn: TurnUpdates | undefined
  /** The turn that it has begun by itself; begun for it if there is none. */
  ownTurn(): Promise<OwnTurn | undefined>
  noise(line: string): void
}

export class AgentRequests {
  readonly #agent: AskingAgent
  readonly #tell: (sentence: string) => void
  readonly #elicitations = new AgentElicitations()

  /** `tell` says to the user what became of a question. */
  constructor(agent: AskingAgent, tell: (sentence: string) => void) {
    this.#agent = agent
    this.#tell = tell
  }

  /** Undefined for a method that Parley does not have. */
  answer(method: string, params: unknown, { blockingRequests }: Quirks): Promise<unknown> | undefined {
    if (method === 'session/request_permission') return this.#permission(params)
    if (method === 'elicitation/create') return this.#elicited(params)
    if (!blockingRequests.includes(method)) return undefined
    return this.#elicited(formFor(method, params)).then((answer) => answerOf(params, answer))
  }

  /** `elicitation/complete`. */
  completed(params: unknown): void {
    this.#elicitations.completed(params)
  }

  async #permission(params: unknown): Promise<unknown> {
    const { isReplaying, promptTurn } = this.#agent
    if (isReplaying || promptTurn?.turn.signal.aborted) return CANCELLED
    if (promptTurn !== undefined) return this.#asked(params, promptTurn)
    const own = await this.#agent.ownTurn()
    if (own === undefined) return CANCELLED
    own.openQuestions += 1
    try {
      return await this.#asked(params, own.updates)
    } finally {
      own.openQuestions -= 1
      own.heard()
    }
  }

  async #asked(params: unknown, updates: TurnUpdates): Promise<unknown> {
    const { toolCallId } = fieldsOf(fieldsOf(params)['toolCall'])
    if (typeof toolCallId === 'string') updates.met(toolCallId)
    try {
      return await askPermission(params, updates.turn, () => updates.refused())
    } catch (error) {
      // The turn is over, and no user can be asked any more.
      if (isParleyError(error, 'TURN_OVER')) return CANCELLED
      this.#agent.noise(`a permission request could not be asked: ${reasonOf(error)}`)
      throw error
    }
  }

  /** Only the sender of the prompt that runs may be asked. */
  #elicited(params: unknown): Promise<ElicitationAnswer> {
    const turn = this.#agent.promptTurn?.turn
    const asked = turn?.signal.aborted === false ? turn : undefined
    const unable = (why: string): void =>
      this.#tell(`asked a question, which was cancelled: ${why.replace(/\.$/u, '')}.`)
    return this.#elicitations.ask(params, asked, unable)
  }
}
