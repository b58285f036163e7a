/** The front by which external agents reach the MCP servers of their sessions; loaded with the first agent that needs it. */
import { systemClock } from '../../adapters/clock.ts'
import type { LoopbackFront } from '../../adapters/mcp/front/loopback-front.ts'
import type { McpHost } from '../../adapters/tool-registry/host.ts'
import type { TurnClient } from '../../ports/client-peer.ts'
import type { FrontedSession, McpFront, OpenFront } from '../../ports/mcp-front.ts'
import type { Rules } from '../../ports/rules.ts'
import type { Tool } from '../../ports/tools.ts'
import { deniedBy } from '../../session/permission/policy.ts'
import { serverInfo } from '../server-info.ts'

/** What a call does is looked at without any client. */
const NOBODY: TurnClient = {
  readTextFile: undefined,
  writeTextFile: undefined,
  terminals: undefined,
  elicit: undefined,
}

export class LazyMcpFront implements McpFront {
  readonly #tools: McpHost
  readonly #rules: Rules
  #loading: Promise<LoopbackFront> | undefined

  constructor(tools: McpHost, rules: Rules) {
    this.#tools = tools
    this.#rules = rules
  }

  async open(session: FrontedSession): Promise<OpenFront> {
    this.#loading ??= this.#load()
    return (await this.#loading).open(session)
  }

  async close(): Promise<void> {
    await (await this.#loading)?.close()
  }

  async #load(): Promise<LoopbackFront> {
    const { LoopbackFront: Front } = await import('../../adapters/mcp/front/loopback-front.ts')
    return new Front({
      clock: systemClock,
      clientInfo: serverInfo,
      namesOf: (session) => this.#tools.namesFor(session),
      registryOf: (session) => this.#tools.serversOf(session),
      deniedBy: (call) => this.#deniedBy(call),
    })
  }

  /** The agent has asked its user already; what the user's rules deny stays denied. */
  async #deniedBy({ session, roots, tool, args }: DeniableCall): Promise<string | undefined> {
    const preview = await this.#tools.serversOf(session)?.preview(tool.name, args, {
      sessionId: session,
      roots,
      client: NOBODY,
    })
    const decision = deniedBy(
      { tool, preview: preview ?? { kind: 'other' } },
      { rules: await this.#rules.rulesFor(roots) },
    )
    return decision && `The call was refused: ${decision.why}.`
  }
}

interface DeniableCall {
  readonly session: string
  readonly roots: readonly string[]
  readonly tool: Tool
  readonly args: unknown
}
