/** What the config of a client means for a session: its commands, its agents, and what must agree with what is stored. */
import { fail } from '../errors/parley-error.ts'
import type { Agent, Agents, ClientVariables } from '../ports/agent.ts'
import type { SessionId } from '../ports/journal.ts'
import type { Command } from './domain/commands.ts'
import type { SessionConfig } from './handle.ts'

export function configuration({ additionalDirectories, agent }: SessionConfig): Command {
  return { kind: 'configure', additionalDirectories, ...(agent === undefined ? {} : { agent }) }
}

/** What its agent, by its full name, has to offer a session. */
export function agentCapabilities(agent: string, { commands, modes, configOptions = [] }: Agent): Command {
  return { kind: 'set_agent_capabilities', agent, commands, settings: { modes: modes ?? null, configOptions } }
}

/** The same agents, with what the clients of one session have lent by the time that one is opened. */
export function agentsWith(agents: Agents, lent: () => ClientVariables | undefined): Agents {
  return {
    default: agents.default,
    resolveAgentName: (wish) => agents.resolveAgentName(wish, lent()),
    open: (name) => agents.open(name, lent()),
    accepts: (name) => agents.accepts(name, lent()),
    whenChanged: (listener) => agents.whenChanged(listener),
  }
}

/** What a session needs of its agent between turns, or why it cannot be had. */
export type OpenedAgent = { readonly offer: Command } | { readonly reason: unknown }

/** A conversation can be read without its agent; whoever asks for another one is told at once. */
export function requireOpened(agent: string, opening: SessionConfig, named: OpenedAgent | undefined): void {
  if (named !== undefined && 'reason' in named && opening.agent !== agent) throw named.reason
}

export function requireSameCwd(session: SessionId, cwd: string, { cwd: given }: SessionConfig): void {
  if (cwd !== given) fail('SESSION_CWD_DIFFERS', { session, cwd, given })
}
