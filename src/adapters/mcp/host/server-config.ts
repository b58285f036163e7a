/** The configuration of one server of a registry: its name, how to reach it, and the user's rules for it. */
import type { McpServer } from '../../../ports/tools.ts'
import type { LoginSettings, ServerRules } from '../../../ports/values/mcp-server-settings.ts'
import type { ServerOffer, ServerTool } from './mcp-types.ts'

export interface ServerConfig {
  /** Equal for configurations that may share one connection. */
  readonly key: string
  /** Its name, unique within the registry. */
  readonly label: string
  /** Starting it starts a process. */
  readonly isProcess: boolean
  /** A configuration file of the user or of a project names it. */
  readonly isConfigured: boolean
  /** How the user logs in there. */
  readonly login?: LoginSettings
  /** Sessions share it, and it runs on for a while after the last has left. */
  readonly isShared: boolean
  /** The session that configured it first. */
  readonly session: string
  readonly cwd: string
  /** The root set when it was configured. */
  readonly roots: readonly string[]
  readonly rules: ServerRules
  /** How to reach it now. Throws a sentence without secrets if it may not or cannot be started. */
  readonly locate: () => Promise<McpServer>
}

export function permitted(offer: ServerOffer, { include, exclude = [] }: ServerRules): ServerOffer {
  const wanted = include === undefined ? () => true : anyOf(include)
  const unwanted = anyOf(exclude)
  return { ...offer, tools: offer.tools.filter((tool) => wanted(tool) && !unwanted(tool)) }
}

/** The caller's limit takes precedence, then the tool's, then the server's. */
export function limitsFor(
  tool: string,
  { timeoutMs, totalMs, tools = {} }: ServerRules,
  asked: { readonly timeoutMs?: number },
): { readonly timeoutMs?: number; readonly totalMs?: number } {
  const own = tools[tool] ?? {}
  const quiet = asked.timeoutMs ?? own.timeoutMs ?? timeoutMs
  const total = own.totalMs ?? totalMs
  return { ...(quiet !== undefined && { timeoutMs: quiet }), ...(total !== undefined && { totalMs: total }) }
}

function anyOf(patterns: readonly string[]): (tool: ServerTool) => boolean {
  return ({ serverToolName }) => patterns.some((pattern) => fits(pattern, serverToolName))
}

/** Looks for each piece between two `*` behind the one before it: linear, unlike a regular expression. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}
