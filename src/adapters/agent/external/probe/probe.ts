/** Starts an agent once, without a prompt and without a login, and stores what it reports about itself. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unlessAborted } from '../../../../async/abort.ts'
import { fail } from '../../../../errors/parley-error.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Processes } from '../../../../ports/process.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { fieldsOf, isFields } from '../../../../rpc/json-rpc.ts'
import type { AgentLaunch, AgentOffers } from '../launch.ts'
import { type AgentInfo, AgentProcess } from '../process/agent-process.ts'
import { CLIENT_CAPABILITIES, loginIn, useLogin } from '../process/introduction.ts'
import type { PeerListener } from '../process/peer.ts'
import { LOGIN_NEEDED, WireError } from '../process/wire-error.ts'
import { AgentAbilities } from '../reattach/abilities.ts'

export interface ProbeParts {
  readonly processes: Processes
  readonly clock: Clock
  readonly clientInfo: { readonly name: string; readonly title?: string; readonly version: string }
  readonly signal: Signal
}

/** How long its offers may come after the response to `session/new`. */
const OFFERS_MS = 1_000
const NEW_MS = 120_000
const CLOSE_MS = 2_000

/**
 * Starts it in an empty folder, opens a session, waits a second for what it offers, closes and deletes the session, and stops it.
 * Throws what keeps it from being started, AGENT_PROTOCOL, AGENT_STUCK, AGENT_START_FAILED, and AGENT_REFUSED for a session that it
 * refuses for another reason than a missing login.
 */
export async function probeAgent(launch: AgentLaunch, parts: ProbeParts): Promise<AgentOffers> {
  const cwd = await mkdtemp(join(tmpdir(), 'parley-agent-'))
  const heard = new Heard()
  const { clock, signal } = parts
  try {
    const began = clock.monotonicNow()
    const process = await AgentProcess.start({ launch, sessionId: 'test', cwd, listener: heard, signal }, parts)
    try {
      const info = await introduced(process, parts)
      const initMs = Math.round(clock.monotonicNow() - began)
      const session = await sessionOf(process, { cwd, info, heard }, parts)
      const { hasTextIds } = process.peer
      const met = { initMs, commands: heard.commands, at: clock.now(), ...(hasTextIds && { hasTextIds }) }
      return offersOf(launch, info, { ...met, ...session })
    } finally {
      await process.stop()
    }
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

/** A page that an agent wants its user to open, with what is to be done there, such as a code to type. False if it was not shown. */
export type ShowPage = (page: { readonly url: string; readonly message: string }) => boolean

/** Starts an agent and asks it to log in; resolves when it says that this is done. Throws AGENT_REFUSED besides what a start throws. */
export async function authenticateAgent(
  launch: AgentLaunch,
  methodId: string,
  parts: ProbeParts & { readonly showPage: ShowPage },
): Promise<void> {
  const cwd = await mkdtemp(join(tmpdir(), 'parley-agent-'))
  const { signal } = parts
  try {
    const listener = new Heard(parts.showPage)
    const process = await AgentProcess.start({ launch, sessionId: 'login', cwd, listener, signal }, parts)
    try {
      await introduced(process, parts)
      // A person may need any time for this, so only a signal ends it.
      const answered = process.peer.request('authenticate', { methodId })
      const gone = process.ended.then((reason) => fail('AGENT_GONE', { agent: launch.name, reason }))
      await unlessAborted(Promise.race([answered, gone]), signal, () => new Error('it was cancelled'))
    } catch (error) {
      if (error instanceof WireError) refused(process, 'authenticate', error)
      throw error
    } finally {
      await process.stop()
    }
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}

/** Keeps the last list of commands, and answers no request but for a page where that can be shown. */
class Heard implements PeerListener {
  commands: readonly unknown[] = []
  readonly #showPage: ShowPage | undefined

  constructor(showPage?: ShowPage) {
    this.#showPage = showPage
  }

  async notified(_method: string, params: unknown): Promise<void> {
    const { sessionUpdate, availableCommands } = fieldsOf(fieldsOf(params)['update'])
    if (sessionUpdate === 'available_commands_update' && Array.isArray(availableCommands))
      this.commands = availableCommands
  }

  requested(method: string, params: unknown): Promise<unknown> | undefined {
    const { mode, url, message } = fieldsOf(params)
    if (this.#showPage === undefined || method !== 'elicitation/create' || mode !== 'url') return undefined
    if (typeof url !== 'string' || !/^https?:\/\//u.test(url)) return Promise.resolve({ action: 'cancel' })
    const isShown = this.#showPage({ url, message: typeof message === 'string' ? message : '' })
    return Promise.resolve({ action: isShown ? 'accept' : 'cancel' })
  }

  noise(): void {
    // It is in the log of the agent's errors that a session keeps; a probe keeps none.
  }
}

/** The first request of a process without a session. Throws AGENT_REFUSED, AGENT_PROTOCOL, AGENT_STUCK and AGENT_START_FAILED. */
export async function introduced(process: AgentProcess, { clientInfo, signal }: ProbeParts): Promise<AgentInfo> {
  const { protocol, clientInfo: named = clientInfo } = process.launch.quirks
  const params = { protocolVersion: protocol, clientInfo: named, clientCapabilities: CLIENT_CAPABILITIES }
  try {
    const info = await process.initialize(params, protocol, signal)
    await useLogin(process, info, { quirks: process.launch.quirks, signal })
    return info
  } catch (error) {
    if (error instanceof WireError) refused(process, 'initialize', error)
    throw error
  }
}

interface Met {
  readonly cwd: string
  readonly info: AgentInfo
  readonly heard: Heard
}

interface Session {
  readonly newMs?: number
  readonly response?: unknown
  readonly needsLogin: boolean
}

async function sessionOf(process: AgentProcess, { cwd, info }: Met, { clock, signal }: ProbeParts): Promise<Session> {
  const began = clock.monotonicNow()
  const patience = { silenceMs: NEW_MS, signal }
  try {
    const response = await process.ask('session/new', { cwd, mcpServers: [] }, patience)
    const newMs = Math.round(clock.monotonicNow() - began)
    await clock.sleep(OFFERS_MS, signal)
    const { sessionId } = fieldsOf(response)
    if (typeof sessionId !== 'string' || sessionId === '') return process.failed('session/new', 'it gave no session id')
    const can = fieldsOf(info.capabilities['sessionCapabilities'])
    // The session of a probe belongs to no user, so it should not be found in the agent's own list. An agent that fails here is stopped anyway.
    for (const verb of ['close', 'delete'] as const)
      if (isFields(can[verb]))
        await process.ask(`session/${verb}`, { sessionId }, { silenceMs: CLOSE_MS, signal }).catch(() => undefined)
    return { newMs, response, needsLogin: false }
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    if (error.code === LOGIN_NEEDED) return { needsLogin: true }
    return refused(process, 'session/new', error)
  }
}

function refused(process: AgentProcess, method: string, error: WireError): never {
  return fail('AGENT_REFUSED', { agent: process.launch.name, method, reason: process.mask(error.words) }, error)
}

function offersOf(
  launch: AgentLaunch,
  { agentName, version, protocol, capabilities, authMethods }: AgentInfo,
  { response, ...met }: Session & Pick<AgentOffers, 'commands' | 'at' | 'hasTextIds'> & { readonly initMs: number },
): AgentOffers {
  const { modes, configOptions, models } = fieldsOf(response)
  return {
    agentName,
    version,
    protocol,
    capabilities,
    promptKinds: new AgentAbilities(capabilities, launch.quirks).promptKinds,
    logins: authMethods.flatMap(loginIn),
    ...(modes !== undefined && { modes }),
    ...(configOptions !== undefined && { configOptions }),
    ...(models !== undefined && { models }),
    ...met,
  }
}
