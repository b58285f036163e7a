/** What a client brings when it opens a session and attaches to it. */
import { fail } from '../errors/parley-error.ts'
import type { LentClient } from '../ports/client.ts'
import type { Agent, Agents, LentVariables } from '../ports/agent.ts'
import type { SessionId } from '../ports/journal.ts'
import type { McpServer } from '../ports/tools.ts'
import type { Client } from './audience.ts'
import type { Command } from './commands.ts'

export interface Opening {
  /** As the client gave it. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  /** The full name of the agent that answers from the next turn on; absent leaves that to the session. */
  readonly agent?: string | undefined
  /** What the client has lent for its models; absent where it has nothing. */
  readonly lent?: LentVariables | undefined
  /** The feed that the same client has of this session, which leaves once the new one is attached. */
  readonly replaces?: object | undefined
}

/** Who attaches, and with which opening: the turns of its prompts have those directories, and the session its servers. */
export interface Attaching {
  readonly opening: Opening
  readonly client: Client
  /** What it lends to the turns of its prompts. */
  readonly lends?: LentClient
}

export function configuration({ additionalDirectories, agent }: Opening): Command {
  return { kind: 'configure', additionalDirectories, ...(agent === undefined ? {} : { agent }) }
}

/** What its agent, by its full name, has to offer a session. */
export function offerOf(agent: string, { commands, modes, configOptions = [] }: Agent): Command {
  return { kind: 'offer', agent, commands, settings: { modes: modes ?? null, configOptions } }
}

/** The same agents, with what the clients of one session have lent by the time that one is opened. */
export function agentsWith(agents: Agents, lent: () => LentVariables | undefined): Agents {
  return {
    default: agents.default,
    settle: (wish) => agents.settle(wish, lent()),
    open: (name) => agents.open(name, lent()),
    accepts: (name) => agents.accepts(name, lent()),
    whenChanged: (listener) => agents.whenChanged(listener),
  }
}

/** What a session needs of its agent between turns, or why it cannot be had. */
export type OpenedAgent = { readonly offer: Command } | { readonly reason: unknown }

/** A conversation can be read without its agent; whoever asks for another one is told at once. */
export function requireOpened(agent: string, opening: Opening, named: OpenedAgent | undefined): void {
  if (named !== undefined && 'reason' in named && opening.agent !== agent) throw named.reason
}

export function requireSameCwd(session: SessionId, cwd: string, { cwd: given }: Opening): void {
  if (cwd !== given) fail('SESSION_CWD_DIFFERS', { session, cwd, given })
}
