/** `parley mcp test`: meets one MCP server as a session would and prints what it offers and what is wrong with it. */
import { configFor } from '../../configured.ts'
import { type FoundMcp, readMcpFiles } from '../../../config/mcp/server-files.ts'
import type { Config } from '../../../config/settings.ts'
import { locateConfigured } from '../../../server/compose/configured-mcp-servers.ts'
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
import { pairsOf, unknownServer } from './words.ts'

type Target = Parameters<typeof examine>[1]

/** A server of the configuration by its name, or any by its URL or, behind `--`, its command. */
export async function run({ args, options, hasDashes = false }: CommandInput): Promise<number> {
  const config = await configFor()
  const target = hasDashes ? commandOf(args) : targetOf(config, args, options)
  if ('refused' in target) {
    complain(oneLine(target.refused, 1000))
    return target.code
  }
  const { signal } = watchStops()
  const examined = await examine(config, target, signal)
  if (options['json'] === true) printJson(examined)
  else process.stdout.write(`${linesOf(examined, paintOn(process.stdout, config)).join('\n')}\n`)
  if (signal.aborted) return signal.reason as number
  return examined.servers.every(({ state }) => state === 'ready') ? OK : FAILED
}

interface NoTarget {
  readonly refused: string
  readonly code: number
}

const NAME = 'test'

function commandOf([command = '', ...args]: readonly string[]): Target {
  return { type: 'stdio', name: NAME, command, args, env: {} }
}

function targetOf(
  config: Config,
  [first = '', ...rest]: readonly string[],
  options: CommandInput['options'],
): Target | NoTarget {
  if (rest.length > 0) return { refused: 'a command stands behind --: parley mcp test -- COMMAND ARGS', code: USAGE }
  if (/^https?:\/\//u.test(first)) {
    if (!URL.canParse(first)) return { refused: 'that is no URL; nothing was asked', code: USAGE }
    const headers = Object.entries(pairsOf('--header', textsOption(options, 'header')))
    return { type: options['sse'] === true ? 'sse' : 'http', name: NAME, url: first, headers }
  }
  const { servers } = readMcpFiles(config, process.cwd())
  const found = servers.find(isNamed(first))
  if (found === undefined)
    return { refused: `${unknownServer(first, servers)}. For a command: parley mcp test -- ${first}`, code: FAILED }
  const { place } = found.entry
  if (place === undefined)
    return { refused: `${first} has only rules in ${found.file}, and neither a command nor a url`, code: FAILED }
  return locateConfigured(config, found, place)
}

function isNamed(name: string): (found: FoundMcp) => boolean {
  return ({ entry, standing }) => entry.name === name && standing !== 'overruled'
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
