/** What a registry knows of a server before it is reached: its name, its rules, and how to reach it. */
import type { McpServer } from '../../../ports/tools.ts'
import type { LoginSettings } from '../oauth/authorization.ts'
import type { Offer, ServerTool } from './mcp-types.ts'

export interface ServerConfig {
  /** Equal for what may share one connection. */
  readonly key: string
  /** Its name, unlike that of any other server of the registry. */
  readonly label: string
  readonly title: string
  readonly trusted: boolean
  /** Starting it starts a process. */
  readonly isProcess: boolean
  /** A file of the user's or of a project names it. */
  readonly isConfigured: boolean
  /** How people log in there. */
  readonly login?: LoginSettings
  /** Sessions share it, and it stays a while when the last has left. */
  readonly isShared: boolean
  /** It waits for its first use. */
  readonly lazy: boolean
  /** The session that named it first. */
  readonly session: string
  readonly cwd: string
  /** The root set when it was first named. */
  readonly roots: readonly string[]
  readonly rules: ServerRules
  /** How to reach it; Parley's own servers are started by this. */
  readonly locate: () => Promise<McpServer>
  /** What it will list, known without it: it starts with the first call then. Throws what would keep it from starting. */
  readonly staticTools?: () => Promise<readonly unknown[]>
  /** Called once, when it will not be located again. */
  readonly release?: () => Promise<void>
}

export interface ServerRules {
  /** One process, or one connection, for all sessions that configure it alike. Without it: a connection yes, a process no. */
  readonly shared?: boolean
  /** Milliseconds that one which is shared stays when the last session has left it. */
  readonly idleMs?: number
  /** Which protocol to speak, where finding out does harm or fails. */
  readonly protocol?: 'auto' | 'legacy' | 'modern'
  /** Names or patterns with `*`, as the server names its tools; without any, all tools are used. */
  readonly include?: readonly string[]
  /** Counts more than `include`. */
  readonly exclude?: readonly string[]
  /** Milliseconds without an answer or progress. */
  readonly timeoutMs?: number
  /** Milliseconds, whatever progress there is. */
  readonly totalMs?: number
  /** The same for single tools. */
  readonly tools?: Readonly<Record<string, { readonly timeoutMs?: number; readonly totalMs?: number }>>
}

export function permitted(offer: Offer, { include, exclude = [] }: ServerRules): Offer {
  const wanted = include === undefined ? () => true : anyOf(include)
  const unwanted = anyOf(exclude)
  return { ...offer, tools: offer.tools.filter((tool) => wanted(tool) && !unwanted(tool)) }
}

/** What whoever calls says counts most, then what is said of the tool, then of its server. */
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

/** Each piece between two `*` is looked for behind the one before it, which is never slow. */
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
