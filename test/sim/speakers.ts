/** The agents of a simulated server: each turn does what it is told next, one step after the other. */
import type { Agent, Agents, StopReason, Turn } from '../../src/ports/agent.ts'
import type { Oversight } from './oversight.ts'
import { options, text } from './words.ts'

export const steps = [
  'word',
  'word',
  'word',
  'thought',
  'burst',
  'report',
  'plan',
  'title',
  'touch',
  'touch',
  'look',
  'ask',
  'end',
  'fail',
  'flood',
] as const

export type Step = (typeof steps)[number]

interface Desk {
  readonly turn: Turn
  readonly tell: (step: Step) => void
}

interface Resume {
  readonly label?: string
}

export class Speakers implements Agent, Agents {
  readonly default = 'puppet'
  readonly capabilities = { commands: [], settings: { modes: null, configOptions: [] } }
  /** Turns that wait to be told what to do. */
  readonly desks: Desk[] = []
  readonly #oversight: Oversight
  readonly #name: string
  #said = 0

  constructor(oversight: Oversight, name: string) {
    this.#oversight = oversight
    this.#name = name
  }

  async check(): Promise<void> {}

  async close(): Promise<void> {}

  async resolveAgentName(wish: string): Promise<string> {
    return wish
  }

  async open(): Promise<Agent> {
    return this
  }

  accepts() {
    return { image: false, audio: false, embeddedContext: false }
  }

  async run(turn: Turn): Promise<StopReason> {
    if (turn.resumed !== undefined) await this.#goOn(turn, turn.resumed)
    for (;;) {
      const step = await new Promise<Step>((tell) => this.desks.push({ turn, tell }))
      if (turn.signal.aborted) return 'cancelled'
      if (step === 'end') return 'end_turn'
      await this.#take(step, turn)
    }
  }

  tell(index: number, step: Step): void {
    this.desks.splice(index, 1)[0]?.tell(step)
  }

  async #goOn(turn: Turn, { calls }: NonNullable<Turn['resumed']>): Promise<void> {
    for (const { state, toolCallId, outcome } of calls) {
      const { label } = state as Resume
      const isYes = outcome.outcome === 'selected' && outcome.kind.startsWith('allow')
      if (isYes && label !== undefined)
        await turn.call({ name: 'test__touch', args: { label }, toolCallId, permission: 'granted' })
    }
  }

  async #take(step: Exclude<Step, 'end'>, turn: Turn): Promise<void> {
    switch (step) {
      case 'word':
        return turn.say(text(this.#words()))
      case 'thought':
        return turn.think(text(this.#words()))
      case 'burst':
        return this.#burst(turn, 20)
      case 'flood':
        return this.#burst(turn, 400)
      case 'report':
        return turn.report(turn.newToolCallId(), { title: this.#words(), status: 'completed' })
      case 'plan':
        return turn.plan([{ content: this.#words(), priority: 'low', status: 'pending' }])
      case 'title':
        return turn.title(this.#words())
      case 'touch':
        return this.#call(turn, 'test__touch')
      case 'look':
        return this.#call(turn, 'test__look')
      case 'ask':
        return this.#ask(turn)
      case 'fail':
        throw new Error('the agent failed')
    }
  }

  async #burst(turn: Turn, count: number): Promise<void> {
    for (let n = 0; n < count && !turn.signal.aborted; n += 1) await turn.say(text(this.#words()))
  }

  async #call(turn: Turn, name: string): Promise<void> {
    const label = `${turn.sessionId} ${this.#words()}`
    await turn.call({ name, args: { label }, permission: 'policy', resume: { label } satisfies Resume })
  }

  async #ask(turn: Turn): Promise<void> {
    const toolCallId = turn.newToolCallId()
    const outcome = await turn.ask({ toolCallId, patch: { title: this.#words() }, options, state: {} })
    if (outcome.outcome !== 'selected') return
    if (!this.#oversight.wasAnswered(turn.sessionId, toolCallId, outcome.optionId))
      this.#oversight.found(5, `${turn.sessionId} hears “${outcome.optionId}” that nobody gave for ${toolCallId}`)
  }

  /** No two things that are said are alike: one that is missing, doubled or out of place shows. */
  #words(): string {
    this.#said += 1
    return `${this.#name}.${this.#said} `
  }
}
