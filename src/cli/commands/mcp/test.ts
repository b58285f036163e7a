/** `parley mcp test`: meets one MCP server as a session would and prints what it offers and what is wrong with it. */
import { configFor } from '../../configured.ts'
import { type FoundMcp, readMcpFiles } from '../../../config/mcp-files.ts'
import type { Config } from '../../../config/schema.ts'
import { locateConfigured } from '../../../server/configured.ts'
import { type Examined, examine } from '../../../server/examine.ts'
import type { CommandInput } from '../../command.ts'
import { FAILED, OK } from '../../exit.ts'
import { printJson } from '../../json.ts'
import { textsOption } from '../../options.ts'
import { watchStops } from '../../stops.ts'
import { paintOn } from '../../surfaces.ts'
import type { Paint } from '../../terminal/colors.ts'
import { oneLine } from '../../terminal/text.ts'
import { pairsOf } from './words.ts'

type Target = Parameters<typeof examine>[1]

/** A server of the configuration by its name, or any by its URL or command. */
export async function testServer(words: readonly string[], options: CommandInput['options']): Promise<number> {
  const config = await configFor()
  const { signal } = watchStops()
  const examined = await examine(config, targetOf(config, words, options), signal)
  if (options['json'] === true) printJson(examined)
  else process.stdout.write(`${linesOf(examined, paintOn(process.stdout, config)).join('\n')}\n`)
  if (signal.aborted) return signal.reason as number
  return examined.servers.every(({ state }) => state === 'ready') ? OK : FAILED
}

function targetOf(config: Config, [first = '', ...rest]: readonly string[], options: CommandInput['options']): Target {
  const name = 'test'
  if (/^https?:\/\//u.test(first)) {
    const headers = Object.entries(pairsOf('--header', textsOption(options, 'header')))
    return { type: options['sse'] === true ? 'sse' : 'http', name, url: first, headers }
  }
  const found = rest.length > 0 ? undefined : readMcpFiles(config, process.cwd()).servers.find(isNamed(first))
  if (found?.entry.place !== undefined) return locateConfigured(config, found, found.entry.place)
  return { type: 'stdio', name, command: first, args: rest, env: {} }
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

interface Listed {
  readonly name: string
  readonly title: string
}

function addressed(
  one: { readonly title: string } & ({ readonly uri: string } | { readonly uriTemplate: string }),
): Listed {
  return { name: 'uri' in one ? one.uri : one.uriTemplate, title: one.title }
}

function section(heading: string, listed: readonly Listed[], paint: Paint): string[] {
  if (listed.length === 0) return []
  const rows = listed.map(({ name, title }) => `  ${oneLine(name, 80)}  ${paint('dim', oneLine(title, 80))}`)
  return [`${heading} (${listed.length})`, ...rows]
}
