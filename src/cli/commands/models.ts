/** `parley models`: which models can be used here or on a remote server, and why the others cannot. It needs no server here. */
import { configFor } from '../configured.ts'
import { openUserModels, type UserModels } from '../../server/compose/compose.ts'
import type { Config } from '../../config/settings.ts'
import { fail } from '../../errors/parley-error.ts'
import { askRemote } from '../remote/ask-remote.ts'
import type { CommandInput } from '../runtime/command.ts'
import { OK } from '../runtime/exit-codes.ts'
import { printJson } from '../output/json.ts'
import { textOption } from '../runtime/options.ts'
import { watchStops } from '../runtime/shutdown-signals.ts'
import { isTerminal, paintOn } from '../output/terminal-io.ts'
import type { Paint } from '../output/terminal/colors.ts'
import { oneLine, widthOf } from '../output/terminal/text.ts'

type Source = Awaited<ReturnType<UserModels['discover']>>[number]
type Listing = Source['models'][number]

/** How long a provider may take to list its models. Milliseconds. */
const DISCOVERY_TIMEOUT_MS = 5000

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor()
  const wanted = textOption(options, 'provider')
  const stops = watchStops()
  const hush = isTerminal(process.stderr, config) ? progress('Asking which models there are…') : () => undefined
  try {
    const { sources, preset } = await found(config, wanted, stops.signal)
    hush()
    if (wanted !== undefined && sources.length === 0) unknownProvider(wanted)
    if (stops.signal.aborted) return stops.signal.reason as number
    if (options['json'] === true) sources.forEach(printJson)
    else process.stdout.write(modelTable(sources, preset, paintOn(process.stdout, config)))
    return OK
  } catch (error) {
    if (stops.signal.aborted) return stops.signal.reason as number
    throw error
  } finally {
    hush()
    stops.release()
  }
}

interface Found {
  readonly preset?: string | undefined
  readonly sources: readonly Source[]
}

async function found(config: Config, provider: string | undefined, signal: AbortSignal): Promise<Found> {
  if (config.server !== undefined)
    return askRemote(config, {
      method: '_parley/models',
      params: { provider },
      timeoutMs: 4 * DISCOVERY_TIMEOUT_MS,
      signal,
    })
  const models = await openUserModels(config, { only: provider })
  try {
    const sources = await models.discover(DISCOVERY_TIMEOUT_MS, signal)
    // It may be known only now.
    return { preset: models.preset, sources }
  } finally {
    await models.close()
  }
}

function unknownProvider(name: string): never {
  const reason = 'there is no such provider; without it all are listed'
  return fail('CONFIG_INVALID', { key: '--provider', value: JSON.stringify(name), reason })
}

/** A line that is gone when there is something to show. */
function progress(words: string): () => void {
  process.stderr.write(words)
  let isThere = true
  return () => {
    if (isThere) process.stderr.write('\r\u001b[2K')
    isThere = false
  }
}

function modelTable(sources: readonly Source[], preset: string | undefined, paint: Paint): string {
  const there = sources.filter(({ models }) => models.length > 0)
  const rest = sources.filter(({ reason }) => reason !== undefined)
  const width = Math.max(0, ...there.flatMap(({ models }) => models.map(({ name }) => widthOf(oneLine(name)))))
  const listed = there.map(({ title, models }) => {
    const lines = models.map((model) => modelLine(model, { width, paint, isPreset: model.name === preset }))
    return `${paint('dim', oneLine(title))}\n${lines.join('\n')}\n`
  })
  const said =
    preset === undefined
      ? ['No model can be used yet: set one of the keys below, or start a model server on this machine.', '']
      : [`Default model: ${paint('code', preset)}`, '']
  const titles = Math.max(0, ...rest.map(({ title }) => widthOf(oneLine(title))))
  const missing = rest.map(
    ({ title, reason = '' }) => `${pad(oneLine(title), titles)}  ${paint('dim', oneLine(reason))}`,
  )
  return `${[...listed, ...said, ...missing].join('\n').trimEnd()}\n`
}

interface Look {
  readonly width: number
  readonly paint: Paint
  readonly isPreset: boolean
}

function modelLine({ name, ...traits }: Listing, { width, paint, isPreset }: Look): string {
  const line = `${isPreset ? '*' : ' '} ${paint('code', pad(oneLine(name), width))}  ${paint('dim', traitWords(traits))}`
  return line.trimEnd()
}

function traitWords({ contextWindow, accepts, efforts, price }: Omit<Listing, 'name'>): string {
  const words = [
    contextWindow === undefined ? '' : `${Math.round(contextWindow / 1000)}k`,
    accepts.image ? 'images' : '',
    efforts.length > 0 ? efforts.join('/') : '',
    price === undefined ? '' : `${price.input}/${price.output} ${price.currency} per million`,
  ]
  return words.filter((word) => word !== '').join(' · ')
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
