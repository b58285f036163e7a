/** What people may choose about the model agent: which model, how much it thinks, and what it may do without asking. */
import type { ModelListing, ModelSource, Models } from '../../../../ports/model.ts'
import type { Choice, ChoiceGroup, ConfigOption, SelectOption, Settings } from '../../../../ports/settings.ts'
import { PERMISSION_OPTION } from '../../permission-modes.ts'
import type { Clock } from '../../../../ports/clock.ts'

interface Choosing {
  /** What answers where nobody has chosen; full. */
  readonly preset: string
  /** Somebody named it, as `--model` does. */
  readonly isNamed: boolean
  readonly sources: readonly ModelSource[]
  /** Of the preset, which need not be listed. */
  readonly efforts: readonly string[]
}

/** The thought level that leaves it to the model. */
const BY_ITSELF = 'default'

/** Least first; what is not here comes after. */
const LEVELS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export function optionsOf(choosing: Choosing): readonly ConfigOption[] {
  return [modelOption(choosing), ...thoughtOption(choosing), PERMISSION_OPTION]
}

export function chosenModel({ configOptions }: Settings, preset: string): string {
  const value = configOptions.find(({ id }) => id === 'model')?.currentValue
  return typeof value === 'string' ? value : preset
}

/** Undefined leaves it to the model; so does a level that it has not got. */
export function chosenEffort({ configOptions }: Settings, efforts: readonly string[]): string | undefined {
  const value = configOptions.find(({ id }) => id === 'thought_level')?.currentValue
  return efforts.find((effort) => effort === value)
}

function modelOption({ preset, isNamed, sources }: Choosing): SelectOption {
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

function thoughtOption({ sources, efforts }: Choosing): readonly SelectOption[] {
  const known = new Set([...efforts, ...sources.flatMap(({ models }) => models.flatMap((model) => model.efforts))])
  if (known.size === 0) return []
  const levels = [...LEVELS.filter((level) => known.has(level)), ...[...known].filter((one) => !LEVELS.includes(one))]
  return [
    {
      id: 'thought_level',
      name: 'Thinking',
      description: 'How much the model thinks before it answers, where it can be told.',
      category: 'thought_level',
      type: 'select',
      currentValue: BY_ITSELF,
      options: [BY_ITSELF, ...levels].map((value) => ({ value, name: value })),
      allowsOther: true,
    },
  ]
}

function nameIn(model: string): string {
  return model.replace(/^[^:]*:/su, '')
}

/** How long the servers of this machine are waited for. Milliseconds. */
const LOCAL_LIMIT = 200
/** And the lists of providers, which nobody waits for. */
const LIST_LIMIT = 5_000
/** What is known is asked anew when it is older. */
const STALE = 60_000

export class KnownModels {
  sources: readonly ModelSource[] = []
  /** Called when there is something else to choose from. */
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

  /** The same once this machine's own servers were asked, if nothing else is known. */
  async found(): Promise<string | undefined> {
    if (this.preset === undefined && this.#askedAt === undefined) await this.#ask(LOCAL_LIMIT)
    else if (this.preset === undefined) this.refresh()
    return this.preset
  }

  /** Asks again if what is known is old. Never waits. */
  refresh(): void {
    const isFresh = this.#askedAt !== undefined && this.#clock.monotonicNow() - this.#askedAt < STALE
    if (!isFresh) void this.#ask(LIST_LIMIT)
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
