/** What an agent asks of the user: each request goes to the turn in which the agent asks, or is answered at once. */
import { isParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import type { Elicitation, ElicitationAnswer } from '../../../../ports/values/elicitation.ts'
import type { Tool } from '../../../../ports/tools.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { Quirks } from '../quirks.ts'
import type { ServerQuestions } from '../reattach/servers.ts'
import type { OwnTurn } from '../turn/own-turn.ts'
import type { TurnUpdates } from '../updates/turn-updates.ts'
import { answerOf, formFor } from './blocking-request.ts'
import { AgentElicitations } from './elicitation.ts'
import { CANCELLED, askForTool, requestPermission } from './permission.ts'

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

export class AgentRequests implements ServerQuestions {
  readonly #agent: AskingAgent
  readonly #tell: (sentence: string) => void
  readonly #elicitations = new AgentElicitations()
  /** Tools of MCP servers that the user has allowed for as long as the session is open. */
  readonly #allowed = new Set<string>()

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

  async elicit(question: Elicitation): Promise<ElicitationAnswer> {
    const { mode, server } = question
    const message = `${server}: ${question.message}`
    const asked = mode === 'form' ? { requestedSchema: question.schema } : { url: question.url }
    const ask = () => this.#elicited({ mode, message, ...asked }, `uses the MCP server ${server}, which asked`)
    const { promptTurn } = this.#agent
    return promptTurn === undefined ? ask() : whileOpen(promptTurn, ask)
  }

  async permit(tool: Tool, args: unknown): Promise<string | undefined> {
    if (this.#allowed.has(tool.name)) return undefined
    const answer = await this.#inTurn((updates) => askForTool(tool, args, updates))
    if (answer === 'always') this.#allowed.add(tool.name)
    return answer === undefined ? 'Not allowed. The tool was not run.' : undefined
  }

  async #permission(params: unknown): Promise<unknown> {
    if (this.#agent.isReplaying) return CANCELLED
    return (await this.#inTurn((updates) => this.#asked(params, updates))) ?? CANCELLED
  }

  /** In the turn that runs, or in one that is begun for the question; undefined where none can be. */
  async #inTurn<Answer>(ask: (updates: TurnUpdates) => Promise<Answer>): Promise<Answer | undefined> {
    const { promptTurn } = this.#agent
    if (promptTurn?.turn.signal.aborted) return undefined
    if (promptTurn !== undefined) return whileOpen(promptTurn, ask)
    const own = await this.#agent.ownTurn()
    if (own === undefined) return undefined
    own.openQuestions += 1
    try {
      return await ask(own.updates)
    } finally {
      own.openQuestions -= 1
      own.heard()
    }
  }

  async #asked(params: unknown, updates: TurnUpdates): Promise<unknown> {
    const { toolCallId } = fieldsOf(fieldsOf(params)['toolCall'])
    if (typeof toolCallId === 'string') updates.met(toolCallId)
    try {
      return await requestPermission(params, updates.turn, () => updates.refused())
    } catch (error) {
      // The turn is over, and no user can be asked any more.
      if (isParleyError(error, 'TURN_OVER')) return CANCELLED
      this.#agent.noise(`a permission request could not be asked: ${reasonOf(error)}`)
      throw error
    }
  }

  /** Only the sender of the prompt that runs may be asked. */
  #elicited(params: unknown, who = 'asked'): Promise<ElicitationAnswer> {
    const turn = this.#agent.promptTurn?.turn
    const asked = turn?.signal.aborted === false ? turn : undefined
    const unable = (why: string): void =>
      this.#tell(`${who} a question, which was cancelled: ${why.replace(/\.$/u, '')}.`)
    return this.#elicitations.ask(params, asked, unable)
  }
}

/** While its user is asked, an agent is not silent. */
async function whileOpen<Answer>(
  updates: TurnUpdates,
  ask: (updates: TurnUpdates) => Promise<Answer>,
): Promise<Answer> {
  updates.openQuestions += 1
  try {
    return await ask(updates)
  } finally {
    updates.openQuestions -= 1
  }
}
