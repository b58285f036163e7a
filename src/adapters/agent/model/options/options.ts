/** The options of the model agent: model, thought level and permission mode. */
import type { ModelListing, ModelSource, Models } from '../../../../ports/model.ts'
import type { Choice, ChoiceGroup, ConfigOption, SelectOption } from '../../../../ports/values/settings.ts'
import { PERMISSION_OPTION } from '../../permission-modes.ts'
import type { Clock } from '../../../../ports/clock.ts'

interface OptionChoices {
  /** The default model, with its provider. */
  readonly preset: string
  /** The user named it, for example with `--model`. */
  readonly isNamed: boolean
  readonly sources: readonly ModelSource[]
  /** Of the preset, which need not be in the list. */
  readonly efforts: readonly string[]
}

/** The thought level that leaves the choice to the model. */
const MODEL_DECIDES = 'default'

/** In ascending order; unknown levels come last. */
const LEVELS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export function optionsOf(choosing: OptionChoices): readonly ConfigOption[] {
  return [modelOption(choosing), ...thoughtOption(choosing), PERMISSION_OPTION]
}

function modelOption({ preset, isNamed, sources }: OptionChoices): SelectOption {
  const listed = sources.filter(({ models }) => models.length > 0).map(groupOf)
  const isListed = listed.some(({ options }) => options.some(({ value }) => value === preset))
  const provider = preset.replace(/:.*$/su, '')
  const own: ChoiceGroup = {
    group: `${provider}/chosen`,
    name: provider,
    options: [{ value: preset, name: nameIn(preset) }],
  }
  return {
    id: 'model',
    name: 'Model',
    category: 'model',
    type: 'select',
    currentValue: preset,
    options: isListed ? listed : [own, ...listed],
    allowsOther: true,
    ...(isNamed && { configuredValue: preset }),
  }
}

function groupOf({ provider, title, models }: ModelSource): ChoiceGroup {
  return { group: provider, name: title, options: models.map(choiceOf) }
}

function choiceOf({ name, title, contextWindow }: ModelListing): Choice {
  const description = contextWindow === undefined ? {} : { description: `${Math.round(contextWindow / 1000)}k tokens` }
  return { value: name, name: title, ...description }
}

function thoughtOption({ sources, efforts }: OptionChoices): readonly SelectOption[] {
  const known = new Set([...efforts, ...sources.flatMap(({ models }) => models.flatMap((model) => model.efforts))])
  if (known.size === 0) return []
  const levels = [...LEVELS.filter((level) => known.has(level)), ...[...known].filter((one) => !LEVELS.includes(one))]
  return [
    {
      id: 'thought_level',
      name: 'Thinking',
      description: 'How much the model thinks before it answers, where this can be set.',
      category: 'thought_level',
      type: 'select',
      currentValue: MODEL_DECIDES,
      options: [MODEL_DECIDES, ...levels].map((value) => ({ value, name: value })),
      allowsOther: true,
    },
  ]
}

function nameIn(model: string): string {
  return model.replace(/^[^:]*:/su, '')
}

/** How long a turn waits for local model servers. Milliseconds. */
const LOCAL_TIMEOUT_MS = 200
/** The same for lists of providers, which are loaded in the background. */
const LIST_TIMEOUT_MS = 5_000
/** Lists that are older are loaded again. */
const STALE_AFTER_MS = 60_000

export class KnownModels {
  sources: readonly ModelSource[] = []
  /** Called when the choices changed. */
  changed: () => void = () => {}
  readonly #models: Models
  readonly #clock: Clock
  #asking: Promise<void> | undefined
  #askedAt: number | undefined

  constructor(models: Models, clock: Clock) {
    this.#models = models
    this.#clock = clock
  }

  get preset(): string | undefined {
    return this.#models.preset
  }

  /** The same after local model servers were asked, if nothing else is known. */
  async found(): Promise<string | undefined> {
    if (this.preset === undefined && this.#askedAt === undefined) await this.#ask(LOCAL_TIMEOUT_MS)
    else if (this.preset === undefined) this.refresh()
    return this.preset
  }

  /** Loads the lists again if they are old. Never waits. */
  refresh(): void {
    const isFresh = this.#askedAt !== undefined && this.#clock.monotonicNow() - this.#askedAt < STALE_AFTER_MS
    if (!isFresh) void this.#ask(LIST_TIMEOUT_MS)
  }

  #ask(limitMs: number): Promise<void> {
    this.#asking ??= this.#askNow(limitMs).finally(() => (this.#asking = undefined))
    return this.#asking
  }

  async #askNow(limitMs: number): Promise<void> {
    const end = this.#clock.abortSource()
    const sources = await this.#models.discover(limitMs, end.signal)
    const isNews = JSON.stringify(sources) !== JSON.stringify(this.sources)
    this.sources = sources
    this.#askedAt = this.#clock.monotonicNow()
    if (isNews) this.changed()
  }
}
