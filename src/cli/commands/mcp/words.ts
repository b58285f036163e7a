/** How the commands of `parley mcp` read and say what a server is, without its secrets. */
import type { FoundMcp } from '../../../config/mcp/server-files.ts'
import type { McpPlace } from '../../../config/mcp/mcp-servers.ts'
import { fail } from '../../../errors/parley-error.ts'

/** `NAME=VALUE` or `NAME: VALUE`, each given once. Throws CONFIG_INVALID. */
export function pairsOf(option: string, given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(given.map((text) => pairOf(option, text)))
}

function pairOf(option: string, text: string): readonly [string, string] {
  const [, name, value] = /^([^:=\s]+)(?:=|:\s*)(.*)$/su.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  // The value stays out of the message: it is often a key.
  return fail('CONFIG_INVALID', { key: option, value: 'given', reason: 'it must be written as NAME=VALUE' })
}

const SECRET = /key|token|secret|pass|auth|credential/iu

/** A command line or an address, as it is written. */
export function placeWords(place: McpPlace): string {
  if (place.type === 'stdio') return [place.command, ...place.args.map(withoutSecret)].join(' ')
  const { url } = place
  if (!URL.canParse(url)) return url.split('?', 1)[0] ?? ''
  const { origin, pathname } = new URL(url)
  return origin + pathname.replaceAll(/[^/]{16,}/gu, '…')
}

/** Hides the value that follows `--api-key`, or its `=`. */
function withoutSecret(arg: string, index: number, args: readonly string[]): string {
  const [, flag] = /^(--?[^=]+)=(?!\$\{)/u.exec(arg) ?? []
  if (flag !== undefined && SECRET.test(flag)) return `${flag}=…`
  const before = args[index - 1] ?? ''
  const isValue = /^--?[^=]+$/u.test(before) && SECRET.test(before) && !arg.startsWith('-')
  return isValue && !arg.startsWith('${') ? '…' : arg
}

/** The message for a name that no server has, with the names that exist. */
export function unknownServer(name: string, servers: readonly FoundMcp[]): string {
  const names = [...new Set(servers.map(({ entry }) => entry.name))]
  const known = names.length === 0 ? 'none is configured' : `configured: ${names.join(', ')}`
  return `no MCP server is called ${JSON.stringify(name)} (${known})`
}
