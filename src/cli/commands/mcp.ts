/** `parley mcp test`: meets one MCP server as a session would and prints what it offers and what is wrong with it. */
import { loadConfig } from '../../config/load.ts'
import { fail } from '../../errors/parley-error.ts'
import { type Examined, examine } from '../../server/examine.ts'
import type { CommandInput } from '../command.ts'
import { FAILED, OK, USAGE } from '../exit.ts'
import { printJson } from '../json.ts'
import { textOption } from '../options.ts'
import { watchStops } from '../stops.ts'
import { paintOn } from '../surfaces.ts'
import type { Paint } from '../terminal/colors.ts'
import { oneLine } from '../terminal/text.ts'

type Target = Parameters<typeof examine>[1]

export async function run({ args, options }: CommandInput): Promise<number> {
  const [verb, ...words] = args
  if (verb !== 'test' || words.length === 0) {
    process.stderr.write('parley: say what to test: parley mcp test URL, or parley mcp test -- COMMAND ARGS\n')
    return USAGE
  }
  const config = await loadConfig()
  const { signal } = watchStops()
  const examined = await examine(config, targetOf(words, options), signal)
  if (options['json'] === true) printJson(examined)
  else process.stdout.write(`${linesOf(examined, paintOn(process.stdout, config)).join('\n')}\n`)
  if (signal.aborted) return signal.reason as number
  return examined.servers.every(({ state }) => state === 'ready') ? OK : FAILED
}

function targetOf([first = '', ...rest]: readonly string[], options: CommandInput['options']): Target {
  const name = 'test'
  if (!/^https?:\/\//u.test(first)) return { type: 'stdio', name, command: first, args: rest, env: {} }
  const header = textOption(options, 'header')
  const headers = header === undefined ? [] : [headerOf(header)]
  return { type: options['sse'] === true ? 'sse' : 'http', name, url: first, headers }
}

function headerOf(text: string): readonly [string, string] {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/su.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  // The value stays out of the message: it is often a key.
  return fail('CONFIG_INVALID', { key: '--header', value: 'given', reason: 'it is written as "Name: value"' })
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
