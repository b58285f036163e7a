/** Gives external agents access to the MCP servers of their sessions. Loaded with the first agent that needs it. */
import { systemClock } from '../../adapters/clock.ts'
import type { CallDecision, FrontedCall } from '../../adapters/mcp/front/fronted-server.ts'
import type { LoopbackFront } from '../../adapters/mcp/front/loopback-front.ts'
import type { McpHost } from '../../adapters/tool-registry/host.ts'
import type { TurnClient } from '../../ports/client-peer.ts'
import type { FrontedSession, McpFront, OpenFront } from '../../ports/mcp-front.ts'
import type { Rules } from '../../ports/rules.ts'
import { decidePolicy } from '../../session/permission/policy.ts'
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

  namesOf(session: Pick<FrontedSession, 'roots' | 'mcpServers'>): readonly string[] {
    return this.#tools.namesFor(session)
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
      decide: (call) => this.#decide(call),
    })
  }

  /** What the user's rules deny stays denied, whatever the agent has asked. The modes of the session are its agent's own. */
  async #decide({ session, roots, tool, args }: FrontedCall): Promise<CallDecision> {
    const preview = await this.#tools.serversOf(session)?.preview(tool.name, args, {
      sessionId: session,
      roots,
      client: NOBODY,
    })
    const call = { tool, preview: preview ?? { kind: 'other' } } as const
    const rules = await this.#rules.rulesFor(roots)
    const { decision, why } = decidePolicy(call, { rules, mode: 'ask', grants: [] })
    return decision === 'deny' ? { decision, sentence: `The call was refused: ${why}.` } : { decision }
  }
}
