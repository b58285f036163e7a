/** The agents `model` and `model:PROVIDER:NAME`: one loop, with the model that its session chose. */
import { fail } from '../../../errors/parley-error.ts'
import type { AgentCapabilities, StopReason, Turn } from '../../../ports/agent.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SlashCommand } from '../../../ports/values/content.ts'
import type { Models, ModelTraits } from '../../../ports/model.ts'
import type { ToolList } from '../../../ports/tools.ts'
import { PERMISSION_MODES } from '../permission-modes.ts'
import { OWN_COMMANDS, commandsFor } from './options/commands.ts'
import type { Contexts } from './context/context.ts'
import { KnownModels, optionsOf } from './options/options.ts'

export interface ModelAgentsOptions {
  readonly models: Models
  readonly clock: Clock
  /** Maximum number of steps in a turn. */
  readonly maxSteps: number
  readonly titles: boolean
  readonly promptDirectory: string | undefined
}

export class ModelAgents {
  readonly #options: ModelAgentsOptions
  readonly #known: KnownModels
  readonly #contexts: Contexts

  /** Contexts are shared by all of them, because a session may switch between them. */
  constructor(options: ModelAgentsOptions, contexts: Contexts) {
    this.#options = options
    this.#contexts = contexts
    this.#known = new KnownModels(options.models, options.clock)
  }

  /** Whether there is any model. Waits a little for local model servers, once. */
  async found(): Promise<boolean> {
    return (await this.#known.found()) !== undefined
  }

  whenChanged(listener: () => void): void {
    this.#known.changed = listener
  }

  get models(): Models {
    return this.#options.models
  }

  /**
   * The present offer of the agent with this name. Without a model it offers no options, and its turns report that a model
   * is missing.
   */
  capabilities(name: string): AgentCapabilities {
    const preset = name === '' ? this.#known.preset : name
    const configOptions = preset === undefined ? [] : this.#optionsFor(preset, name !== '')
    return { commands: OWN_COMMANDS, settings: { modes: PERMISSION_MODES, configOptions } }
  }

  commandsFor(tools: ToolList, roots: readonly string[]): Promise<readonly SlashCommand[]> {
    return commandsFor(tools, roots, this.#options)
  }

  /** Loads the list of models again if it is old. Never waits. */
  refresh(): void {
    this.#known.refresh()
  }

  #optionsFor(preset: string, isNamed: boolean) {
    const { efforts = [] } = this.#about(preset) ?? {}
    return optionsOf({ preset, isNamed, sources: this.#known.sources, efforts })
  }

  /** A provider that is no longer configured is reported by the next request to its model. */
  #about(model: string): ModelTraits | undefined {
    try {
      return this.#options.models.about(model)
    } catch {
      return undefined
    }
  }

  async run(turn: Turn, name: string): Promise<StopReason> {
    this.refresh()
    const known = name === '' ? this.#known.preset : name
    const preset = known ?? (await this.#known.found()) ?? fail('MODEL_NONE', {})
    const { runTurn } = await import('./loop/loop.ts')
    return runTurn(turn, { ...this.#options, preset, contexts: this.#contexts })
  }
}
