/** The agents `model` and `model:PROVIDER:NAME`: one loop, with whichever model its session has chosen. */
import { fail } from '../../../errors/parley-error.ts'
import type { Agent, PromptKinds, StopReason, Turn } from '../../../ports/agent.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Models, ModelTraits } from '../../../ports/model.ts'
import { PERMISSION_MODES } from '../permission-modes.ts'
import { OWN_COMMANDS, commandsFor } from './options/commands.ts'
import type { Contexts } from './context/context.ts'
import { KnownModels, optionsOf } from './options/options.ts'

export interface ModelAgentsOptions {
  readonly models: Models
  readonly clock: Clock
  /** Steps of the model that a turn may have. */
  readonly maxSteps: number
  readonly titles: boolean
  readonly promptDirectory: string | undefined
}

export class ModelAgents {
  readonly #options: ModelAgentsOptions
  readonly #known: KnownModels
  readonly #contexts: Contexts

  /** What is known of conversations is shared by all of them: a session may change from one to another. */
  constructor(options: ModelAgentsOptions, contexts: Contexts) {
    this.#options = options
    this.#contexts = contexts
    this.#known = new KnownModels(options.models, options.clock)
  }

  /** Whether there is any model. Waits a little for those that this machine serves, once. */
  async found(): Promise<boolean> {
    return (await this.#known.found()) !== undefined
  }

  whenChanged(listener: () => void): void {
    this.#known.changed = listener
  }

  /** What the model of this name takes; an empty name is whichever there is. */
  accepts(name: string): PromptKinds | undefined {
    const model = name === '' ? this.#known.preset : name
    return model === undefined ? undefined : this.#about(model)?.accepts
  }

  /** An agent without a model can be opened: its turns say what is missing. */
  open(name: string): Agent {
    this.#known.refresh()
    const preset = name === '' ? this.#known.preset : name
    return {
      commands: OWN_COMMANDS,
      commandsFor: (list, roots) => commandsFor(list, roots, this.#options),
      modes: PERMISSION_MODES,
      configOptions: preset === undefined ? [] : this.#optionsFor(preset, name !== ''),
      run: (turn) => this.#run(turn, preset),
    }
  }

  #optionsFor(preset: string, isNamed: boolean) {
    const { efforts = [] } = this.#about(preset) ?? {}
    return optionsOf({ preset, isNamed, sources: this.#known.sources, efforts })
  }

  /** A provider that is not configured any more is told of by whoever asks its model. */
  #about(model: string): ModelTraits | undefined {
    try {
      return this.#options.models.about(model)
    } catch {
      return undefined
    }
  }

  async #run(turn: Turn, named: string | undefined): Promise<StopReason> {
    const preset = named ?? (await this.#known.found()) ?? fail('MODEL_NONE', {})
    const { runTurn } = await import('./agent.ts')
    return runTurn(turn, { ...this.#options, preset, contexts: this.#contexts })
  }
}
