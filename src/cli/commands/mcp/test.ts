/** `parley mcp test`: meets one MCP server as a session would and prints what it offers and what is wrong with it. */
import { configFor } from '../../configured.ts'
import type { Config } from '../../../config/settings.ts'
import { testedMcp } from '../../../server/admin/mcp-configuration.ts'
import { type Examined, examine } from '../../../server/admin/examine-mcp-server.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK, USAGE } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { complain } from '../../say.ts'
import { textsOption } from '../../runtime/options.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import { paintOn } from '../../output/terminal-io.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { askRemote } from '../../remote/ask-remote.ts'
import { pairsOf } from './words.ts'

/** A server may have to be fetched first. Milliseconds. */
const TIMEOUT_MS = 90_000

/** A server of the configuration by its name, or any by its URL or, behind `--`, its command. */
export async function run({ args, options, hasDashes = false }: CommandInput): Promise<number> {
  const config = await configFor()
  const target = hasDashes ? commandOf(args) : targetOf(args, options)
  if ('refused' in target) {
    complain(oneLine(target.refused, 1000))
    return target.code
  }
  const { signal } = watchStops()
  const examined = await examinedBy(config, target, signal)
  if (examined === undefined) return signal.reason as number
  if (options['json'] === true) printJson(examined)
  else process.stdout.write(`${linesOf(examined, paintOn(process.stdout, config)).join('\n')}\n`)
  if (signal.aborted) return signal.reason as number
  return examined.servers.every(({ state }) => state === 'ready') ? OK : FAILED
}

interface NoTarget {
  readonly refused: string
  readonly code: number
}

/** As `_parley/mcp/test` takes it. */
interface Target {
  readonly name?: string
  readonly command?: string
  readonly args?: readonly string[]
  readonly url?: string
  readonly sse?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

function commandOf([command = '', ...args]: readonly string[]): Target {
  return { command, args }
}

function targetOf([first = '', ...rest]: readonly string[], options: CommandInput['options']): Target | NoTarget {
  if (rest.length > 0) return { refused: 'a command stands behind --: parley mcp test -- COMMAND ARGS', code: USAGE }
  if (!/^https?:\/\//u.test(first)) return { name: first }
  if (!URL.canParse(first)) return { refused: 'that is no URL; nothing was asked', code: USAGE }
  return { url: first, sse: options['sse'] === true, headers: pairsOf('--header', textsOption(options, 'header')) }
}

/** Undefined where the user has stopped it. */
async function examinedBy(config: Config, target: Target, signal: AbortSignal): Promise<Examined | undefined> {
  const cwd = process.cwd()
  if (config.server === undefined) return examine(config, testedMcp(config, { ...target, cwd }), signal)
  try {
    return await askRemote(config, {
      method: '_parley/mcp/test',
      params: { ...target, cwd },
      timeoutMs: TIMEOUT_MS,
      signal,
    })
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}

function linesOf({ servers, tools, resources, templates, prompts, warnings }: Examined, paint: Paint): string[] {
  const [server] = servers
  const speaks = [server?.protocol, server?.era].filter((word) => word !== undefined).join(', ')
  const unused = server?.unused ?? []
  return [
    `${paint('bold', server?.title ?? '')}  ${server?.state ?? ''}${speaks === '' ? '' : `, MCP ${speaks}`}`,
    ...(server?.reason === undefined ? [] : [oneLine(server.reason, 500)]),
    ...section('Tools', tools, paint),
    ...section('Resources', [...resources, ...templates].map(addressed), paint),
    ...section('Prompts', prompts, paint),
    ...(unused.length > 0 ? [`It also has ${unused.join(', ')}, which Parley does not use yet.`] : []),
    ...warnings.map((sentence) => `${paint('asking', '!')} ${oneLine(sentence, 500)}`),
  ]
}

interface NamedItem {
  readonly name: string
  readonly title: string
}

function addressed(
  one: { readonly title: string } & ({ readonly uri: string } | { readonly uriTemplate: string }),
): NamedItem {
  return { name: 'uri' in one ? one.uri : one.uriTemplate, title: one.title }
}

function section(heading: string, listed: readonly NamedItem[], paint: Paint): string[] {
  if (listed.length === 0) return []
  const rows = listed.map(({ name, title }) => `  ${oneLine(name, 80)}  ${paint('dim', oneLine(title, 80))}`)
  return [`${heading} (${listed.length})`, ...rows]
}
