/** The agents of one session: opened with the variables of its clients, and what they offer as a command to the session. */
import type { Agent, Agents, ClientVariables, PromptKinds } from '../ports/agent.ts'
import type { Command } from './domain/commands.ts'

/** The modes, options and slash commands of an agent; `name` is its full name. */
export function agentCapabilities(name: string, { commands, modes, configOptions = [] }: Agent): Command {
  return { kind: 'set_agent_capabilities', agent: name, commands, settings: { modes: modes ?? null, configOptions } }
}

/** What a session needs of an agent between turns, or why the agent cannot be opened. */
export type OpenedAgent = { readonly capabilities: Command } | { readonly error: unknown }

/** The same agents, opened with the variables of the last client that brought any; they stay when that client leaves. */
export class SessionAgents implements Agents {
  readonly #agents: Agents
  #variables: ClientVariables | undefined

  constructor(agents: Agents, variables: ClientVariables | undefined) {
    this.#agents = agents
    this.#variables = variables
  }

  get default(): string {
    return this.#agents.default
  }

  /** Undefined keeps the variables that are there. */
  useVariables(variables: ClientVariables | undefined): void {
    this.#variables = variables ?? this.#variables
  }

  resolveAgentName(wish: string): Promise<string> {
    return this.#agents.resolveAgentName(wish, this.#variables)
  }

  open(name: string): Promise<Agent> {
    return this.#agents.open(name, this.#variables)
  }

  /** What `open` gives, as a value that can be awaited with others. Never throws. */
  async tryOpen(name: string): Promise<OpenedAgent> {
    try {
      return { capabilities: agentCapabilities(name, await this.open(name)) }
    } catch (error) {
      return { error }
    }
  }

  accepts(name: string): PromptKinds {
    return this.#agents.accepts(name, this.#variables)
  }

  whenChanged(listener: (kind: string) => void): void {
    this.#agents.whenChanged(listener)
  }
}
