/** `parley agents test` and `login`: an agent is met once, outside of any session. */
import { fail } from '../../errors/parley-error.ts'
import {
  type AgentLaunch,
  type AgentOffers,
  type AgentTools,
  type Finding,
  type LoginMethod,
  type ShowPage,
  type TerminalLogin,
  authenticateAgent,
  knownAgentOf,
  probeAgent,
  terminalLogin,
  tryTurns,
} from '../compose/agent-catalogue.ts'
import { serverInfo } from '../server-info.ts'

export interface Tested {
  readonly name: string
  readonly offers: AgentOffers
  /** In the words of the table of agents, for people. */
  readonly notes: readonly string[]
  /** The last version that Parley was tried with. */
  readonly tried?: string
  readonly isVerified: boolean
  /** What it says of itself and its row says otherwise; one sentence each. */
  readonly differs: readonly string[]
  /** What it did with prompts, where they were asked for and it wants no login. */
  readonly tries?: readonly Finding[]
}

interface TestOptions {
  readonly cwd: string
  readonly signal: AbortSignal
}

interface Testing extends TestOptions {
  /** Also sends it prompts, for which its model works. */
  readonly prompts?: boolean
}

/** The result is kept for the first answers of new sessions. Throws what keeps it from being started. */
export async function testAgent(name: string, tools: AgentTools, { prompts, ...where }: Testing): Promise<Tested> {
  const launch = await launchOf(name, tools, where)
  const parts = { ...tools, clientInfo: serverInfo, signal: where.signal }
  const offers = await probeAgent(launch, parts)
  await tools.catalogue.remember(launch, offers)
  const { row, quirks, isVerified } = tools.catalogue.chosen(launch.name, offers, where.cwd)
  const isTried = prompts === true && !offers.needsLogin
  return {
    name: launch.name,
    offers,
    notes: row?.notes ?? [],
    isVerified,
    differs: differencesOf(launch, offers, row?.to),
    ...(row?.to !== undefined && { tried: row.to }),
    ...(isTried && { tries: await tryTurns(launch, quirks, parts) }),
  }
}

function differencesOf(launch: AgentLaunch, offers: AgentOffers, tried: string | undefined): readonly string[] {
  const { capabilities, agentName, version, modes, models, configOptions } = offers
  const info = knownAgentOf(launch.name)?.info
  const { http } = (capabilities['mcpCapabilities'] ?? {}) as { readonly http?: unknown }
  const { quirks } = launch
  const found: readonly (string | false)[] = [
    tried === undefined && 'It has not been tried with Parley yet, so Parley assumes little about it.',
    tried !== undefined && tried !== version && `Parley was tried with ${tried}, not with ${version}.`,
    info !== undefined && info !== agentName && `It calls itself ${agentName}, and ${info} was expected.`,
    quirks.mcp === 'none' &&
      http === true &&
      'It says that it takes MCP servers, and the table says that it ignores them.',
    quirks.mcp === 'front' && http !== true && 'It takes no MCP servers over HTTP: it gets them as they are.',
    offers.hasTextIds === true &&
      'It answers with ids as texts ("3" for 3), which JSON-RPC forbids; Parley takes them for the numbers that it sent.',
    capabilities['loadSession'] !== true &&
      'It cannot reopen its sessions: after a restart Parley tells it what was said.',
    modes === undefined &&
      configOptions === undefined &&
      models === undefined &&
      !offers.needsLogin &&
      'It has no modes and no options.',
  ]
  return found.filter((one) => one !== false)
}

export interface LoginToTest {
  readonly launch: AgentLaunch
  readonly method: LoginMethod
  /** Absent where the agent itself does it. */
  readonly terminal?: TerminalLogin
}

interface LoginWhere extends TestOptions {
  readonly methodId: string | undefined
}

/** The agent is asked for its methods. Throws AGENT_LOGIN_UNKNOWN and AGENT_LOGIN_ABSENT, and what keeps it from being started. */
export async function loginOf(
  name: string,
  tools: AgentTools,
  { methodId, ...where }: LoginWhere,
): Promise<LoginToTest> {
  const launch = await launchOf(name, tools, where)
  const { logins } = await probeAgent(launch, { ...tools, clientInfo: serverInfo, signal: where.signal })
  const [only, ...others] = methodId === undefined ? logins : logins.filter(({ id }) => id === methodId)
  if (logins.length === 0) return fail('AGENT_LOGIN_ABSENT', { agent: launch.name })
  if (only === undefined || others.length > 0) {
    const methods = logins.map(({ id, name: words }) => `${id} (${words})`).join(', ')
    return fail('AGENT_LOGIN_UNKNOWN', { agent: launch.name, methods })
  }
  const terminal = terminalLogin(launch, only)
  return { launch, method: only, ...(terminal !== undefined && { terminal }) }
}

interface Authenticating {
  readonly signal: AbortSignal
  readonly showPage: ShowPage
}

/** The agent does it, perhaps with a browser. Resolves when it is done. */
export function authenticate({ launch, method }: LoginToTest, tools: AgentTools, how: Authenticating): Promise<void> {
  return authenticateAgent(launch, method.id, { ...tools, clientInfo: serverInfo, ...how })
}

/** Throws AGENT_UNKNOWN with the agents that could have been meant, and what keeps it from being started. */
function launchOf(name: string, { catalogue }: AgentTools, { cwd }: TestOptions): Promise<AgentLaunch> {
  const full = catalogue.fullName(name, cwd)
  if (full !== undefined) return catalogue.launch(full, { cwd })
  return fail('AGENT_UNKNOWN', { agent: name, candidates: catalogue.candidates(name, cwd).join(', ') })
}
