/**
 * `session/new`, `load`, `resume` and `fork`: a client opens a session, gets the response, and what comes before and after it. Has
 * the sessions that a connection is attached to.
 */
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { ParleyError, fail, isParleyError } from '../../../../errors/parley-error.ts'
import type { RequestId } from '../../../../rpc/json-rpc.ts'
import type { Agents } from '../../../../ports/agent.ts'
import type { SessionConfig, SessionDirectory, SessionHandle, SessionView } from '../../../../session/handle.ts'
import { type Access, requireMayCreate, requireMayOpen } from '../../../method-access.ts'
import type { Asker, MethodAnswer } from '../../version.ts'
import { Attachment, type AttachmentStart, type ConnectedClient } from '../attachment/attachment.ts'
import type { AdoptedPrompt } from '../attachment/pending-answers.ts'
import type { RequestedAgent } from '../initialize/requested-agent.ts'
import { settingsResult } from '../render/entry-to-update.ts'
import type { Parsed } from './params.ts'
import { SerialQueues } from '../../../../async/serial.ts'

export interface OpenContext {
  readonly sessions: SessionDirectory
  readonly client: ConnectedClient
  readonly agents: Agents
  /** The agent that the client asked for in `initialize`. */
  readonly agent: RequestedAgent
  readonly access: Access
  /** Where clients without the role admin may name directories: the setting `remote_roots`. */
  readonly roots: readonly string[]
  /** The names of the MCP servers that the settings have for a directory. */
  readonly mcpServersOf: (cwd: string) => Promise<readonly string[]>
}

/** A stored session that was opened with this configuration, and that the client is not attached to yet. */
interface Opened {
  readonly session: SessionHandle
  readonly config: SessionConfig
  /** The last entry that the client has, if it names one. */
  readonly after: number | undefined
}

type ResumeParams = Pick<Parsed<'session/load'>, '_meta'>

/** The request to open a session; `signal` aborts when the client cancels it or leaves. */
interface OpenRequest {
  readonly method: 'session/new' | 'session/load' | 'session/resume' | 'session/fork'
  readonly id: RequestId
  readonly signal: AbortSignal
}

export class OpenMethods {
  readonly #context: OpenContext
  readonly #attachments: ConnectionAttachments

  constructor(context: OpenContext, attachments: ConnectionAttachments) {
    this.#context = context
    this.#attachments = attachments
  }

  async new(params: Parsed<'session/new'>, asker: Asker): Promise<MethodAnswer> {
    const { sessions, agents, agent } = this.#context
    const name = params._meta?.['parley/agent'] ?? undefined
    const named = name === undefined ? agent : { ...agent, name, isRequested: true }
    await requireMayCreate(params, { ...this.#context, agent: named })
    await requireDirectories(params)
    await this.#requireConfigured(params)
    const config = {
      ...params,
      agent: await agents.resolveAgentName(named.name, { variables: agent.variables, cwd: params.cwd }),
      variables: agent.variables,
    }
    const session = await sessions.create(config)
    return this.#orDelete(session.id, () => this.#begin(session, config, { method: 'session/new', ...asker }))
  }

  /** Opens a copy of a session as it is now, in the same cwd. */
  async fork({ sessionId, ...params }: Parsed<'session/fork'>, asker: Asker): Promise<MethodAnswer> {
    await requireMayOpen(params, this.#context, { adopts: adoptedIn(params).length > 0 })
    await requireDirectories(params)
    await this.#requireConfigured(params)
    const { sessions, agent } = this.#context
    const cwd = (await sessions.find(sessionId))?.cwd ?? fail('SESSION_NOT_FOUND', { session: sessionId })
    if (cwd !== params.cwd) fail('SESSION_CWD_DIFFERS', { session: sessionId, cwd, given: params.cwd })
    const forked = await sessions.fork(sessionId)
    const request = { method: 'session/fork', ...asker } as const
    return this.#orDelete(forked, async () => {
      requireNotCancelled(request)
      const config = { ...params, variables: agent.variables }
      return this.#begin(await sessions.open(forked, config), config, request)
    })
  }

  /** A load sends what the client does not have yet, then the response, then new entries. */
  async load(params: Parsed<'session/load'>, asker: Asker): Promise<MethodAnswer> {
    const request = { method: 'session/load', ...asker } as const
    const { session, config, after } = await this.#open(params, request)
    await this.#rejectUnknown(session, params)
    const attachment = await this.#attach(session, { from: after ?? 0, config }, request)
    attachment.adopt(adoptedIn(params))
    const view = await this.#replay(attachment, asker.signal)
    // Entries that are stored meanwhile come after the response, so that its `seq` is a cursor without a gap.
    return {
      result: this.#openedResult({ ...view, seq: attachment.subscription.cursor }),
      afterwards: () => this.#attachments.goLive(attachment),
    }
  }

  /** A resume sends the response, then new entries; with a cursor, first the entries that the client has missed. */
  async resume(params: Parsed<'session/resume'>, asker: Asker): Promise<MethodAnswer> {
    const request = { method: 'session/resume', ...asker } as const
    const { session, config, after } = await this.#open(params, request)
    await this.#rejectUnknown(session, params)
    const present = this.#attachments.get(session.id)
    if (present?.session === session && after === undefined) return this.#resumePresent(present, config, params)
    const attachment = await this.#attach(session, { from: after ?? 'head', config }, request)
    attachment.adopt(adoptedIn(params))
    const { opened } = attachment.subscription
    if (after === undefined) attachment.sendState(opened)
    return { result: this.#openedResult(opened), afterwards: () => this.#attachments.goLive(attachment) }
  }

  /** A client that has the session open already misses nothing, so its attachment stays. */
  async #resumePresent(present: Attachment, config: SessionConfig, params: ResumeParams): Promise<MethodAnswer> {
    present.setConfig(config)
    present.adopt(adoptedIn(params))
    const view = await present.session.snapshot()
    present.sendState(view)
    return { result: this.#openedResult(view), afterwards: async () => present.sendNews() }
  }

  /** The client knows nothing of the session yet: the response, its state, then new entries. */
  async #begin(session: SessionHandle, config: SessionConfig, request: OpenRequest): Promise<MethodAnswer> {
    const attachment = await this.#attach(session, { from: 'head', config }, request)
    const { opened } = attachment.subscription
    return {
      result: { sessionId: session.id, ...this.#openedResult(opened) },
      afterwards: () => {
        attachment.sendState(opened)
        return this.#attachments.goLive(attachment)
      },
    }
  }

  /** Deletes a session that was made for a client and that the client does not get: no client knows its id. */
  async #orDelete(sessionId: string, begin: () => Promise<MethodAnswer>): Promise<MethodAnswer> {
    try {
      return await begin()
    } catch (error) {
      const { sessions, client } = this.#context
      await sessions.delete(sessionId).catch((reason: unknown) => client.report(reason))
      throw error
    }
  }

  /** The part that all responses share; `seq` is the last entry, or the last that a load has sent. */
  #openedResult({ settings, agent, seq }: SessionView) {
    return {
      ...settingsResult(settings, this.#context.client.capabilities.display),
      _meta: { 'parley/seq': seq, 'parley/agent': agent },
    }
  }

  /** Prompts that the session never got may still be on their way over the lost connection; from here on they are refused. */
  async #rejectUnknown(session: SessionHandle, params: ResumeParams): Promise<void> {
    const promptIds = adoptedIn(params).map(({ promptId }) => promptId)
    if (promptIds.length === 0) return
    // On a full disk the session can still be read, and such a prompt cannot be stored either.
    await session
      .dispatch({ kind: 'reject_unknown_prompts', promptIds })
      .catch((error: unknown) => this.#context.client.report(error))
  }

  /** A load that fails or is cancelled leaves no attachment. A load that also answers prompts is not cancelled. */
  async #replay(attachment: Attachment, signal: AbortSignal): Promise<SessionView> {
    const stop = (): void => attachment.detach()
    if (attachment.prompts.isEmpty) signal.addEventListener('abort', stop, { once: true })
    try {
      const view = await attachment.replay()
      signal.removeEventListener('abort', stop)
      if (signal.aborted && attachment.hasLeft) fail('REQUEST_CANCELLED', { method: 'session/load' })
      return view
    } catch (error) {
      const known = isParleyError(error) ? error : new ParleyError('INTERNAL_ERROR', {}, error)
      await this.#attachments.abandon(attachment.session.id, known)
      throw error
    }
  }

  async #open(params: Parsed<'session/load' | 'session/resume'>, request: OpenRequest): Promise<Opened> {
    await requireMayOpen(params, this.#context, { adopts: adoptedIn(params).length > 0 })
    const cwdExists = await requireDirectoriesOfStored(params)
    const { sessions, agents, agent } = this.#context
    const named =
      agent.chosen && params._meta?.['parley/agentChosen'] !== false
        ? { agent: await agents.resolveAgentName(agent.name, { variables: agent.variables, cwd: params.cwd }) }
        : {}
    const replaces = this.#attachments.get(params.sessionId)?.subscription
    const config = { ...params, ...named, variables: agent.variables, replaces }
    const session = await sessions.open(params.sessionId, config)
    try {
      requireNotCancelled(request)
      await this.#requireOwnPrompts(session, params)
      if (!cwdExists) await this.#note(session, missingCwd(params.cwd))
      const server = await this.#unknownServer(params)
      // Settings change, and naming a server has no further effect: that is no reason to keep a client from its session.
      if (server !== undefined) await this.#note(session, missingServer(server))
      return { session, config, after: await cursorIn(params, session) }
    } catch (error) {
      session.releaseConfig(config)
      throw error
    }
  }

  /** They join every session of that directory by themselves. Throws MCP_SERVER_UNKNOWN. */
  async #requireConfigured(params: NamedServers): Promise<void> {
    const server = await this.#unknownServer(params)
    if (server !== undefined) fail('MCP_SERVER_UNKNOWN', { server: JSON.stringify(server), cwd: params.cwd })
  }

  async #unknownServer({ cwd, configured }: NamedServers): Promise<string | undefined> {
    if (configured.length === 0) return undefined
    const known = new Set(await this.#context.mcpServersOf(cwd))
    return configured.find((name) => !known.has(name))
  }

  /** A client that adopts a prompt may withdraw it, so below the role `approve` it may not adopt another author's. Throws ROLE_TOO_LOW. */
  async #requireOwnPrompts(session: SessionHandle, params: ResumeParams): Promise<void> {
    const { access, client } = this.#context
    const adopted = new Set(adoptedIn(params).map(({ promptId }) => promptId))
    if (adopted.size === 0 || access.hasRole('approve')) return
    const { queue } = await session.snapshot()
    const isForeign = queue.some(({ promptId, by }) => adopted.has(promptId) && by !== client.author)
    if (isForeign) access.requireRole('approve', 'To wait for a prompt that another client sent')
  }

  /** On a full disk the session opens without the note. A client that only reads writes nothing, however often it comes. */
  async #note(session: SessionHandle, text: string): Promise<void> {
    if (!this.#context.access.hasRole('prompt')) return
    try {
      await session.dispatch({ kind: 'notice', text })
    } catch (error) {
      if (!isParleyError(error, 'JOURNAL_FULL') && !isParleyError(error, 'JOURNAL_IO')) throw error
      this.#context.client.report(error)
    }
  }

  async #attach(session: SessionHandle, start: AttachmentStart, request: OpenRequest): Promise<Attachment> {
    const attachment = await this.#attachments.attach(session, start, () => {
      requireNotCancelled(request)
      // The client may have logged out since it sent the request.
      this.#context.access.require(request.method)
    })
    this.#context.client.transport.opened?.(request.id)
    return attachment
  }
}

function requireNotCancelled({ method, signal }: OpenRequest): void {
  if (signal.aborted) fail('REQUEST_CANCELLED', { method })
}

function missingCwd(cwd: string): string {
  return `The directory ${cwd} of this session is gone. The conversation is whole, but tools that work in it will fail.`
}

function missingServer(server: string): string {
  return `No MCP server with the name ${JSON.stringify(server)} is configured for this directory any more.`
}

/** The last entry that the client has, if it names one. Throws CURSOR_BEYOND. */
async function cursorIn({ _meta }: ResumeParams, session: SessionHandle): Promise<number | undefined> {
  const after = _meta?.['parley/after'] ?? undefined
  if (after === undefined) return undefined
  const { seq: head } = await session.snapshot()
  return after > head ? fail('CURSOR_BEYOND', { session: session.id, after, head }) : after
}

/** The prompts of the client's former connection that have had no answer. */
function adoptedIn({ _meta }: ResumeParams): readonly AdoptedPrompt[] {
  return _meta?.['parley/prompts'] ?? []
}

interface NamedServers {
  readonly cwd: string
  /** Names of MCP servers of the settings. */
  readonly configured: readonly string[]
}

interface Directories {
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
}

/** Throws PATH_NOT_ABSOLUTE or DIRECTORY_MISSING; no directory is ignored silently. */
async function requireDirectories({ cwd, additionalDirectories }: Directories): Promise<void> {
  requireAbsolute({ cwd, additionalDirectories })
  if (!(await isDirectory(cwd))) fail('DIRECTORY_MISSING', { what: 'cwd', path: cwd })
  await requireAdditional(additionalDirectories)
}

/** Throws the same, but for a missing cwd: a stored session opens without it, and false says that it is missing. */
async function requireDirectoriesOfStored({ cwd, additionalDirectories }: Directories): Promise<boolean> {
  requireAbsolute({ cwd, additionalDirectories })
  await requireAdditional(additionalDirectories)
  return isDirectory(cwd)
}

function requireAbsolute({ cwd, additionalDirectories }: Directories): void {
  if (!isAbsolute(cwd)) fail('PATH_NOT_ABSOLUTE', { what: 'cwd', path: cwd })
  const index = additionalDirectories.findIndex((path) => !isAbsolute(path))
  const path = additionalDirectories[index]
  if (path !== undefined) fail('PATH_NOT_ABSOLUTE', { what: `additionalDirectories[${index}]`, path })
}

async function requireAdditional(directories: readonly string[]): Promise<void> {
  for (const [index, path] of directories.entries())
    if (!(await isDirectory(path))) fail('DIRECTORY_MISSING', { what: `additionalDirectories[${index}]`, path })
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // If the server may not look at the directory, tools could not work in it either.
    return false
  }
}

/** The attachments of one connection, at most one per session. An attachment follows its session when that is closed and opened again. */
export class ConnectionAttachments {
  readonly #client: ConnectedClient
  readonly #attachments = new Map<string, Attachment>()
  /** Attaching takes time; two attachments to one session would both take the place of the same former one. */
  readonly #attaching = new SerialQueues<string>()
  /** Sessions that were opened again while their attachment was not live yet; it follows when it is. */
  readonly #reopened = new Map<string, SessionHandle>()
  readonly #stopWatching: () => void
  #isDetached = false

  constructor(sessions: Pick<SessionDirectory, 'whenOpened'>, client: ConnectedClient) {
    this.#client = client
    this.#stopWatching = sessions.whenOpened((session) => {
      this.#follow(session).catch((error: unknown) => client.report(error))
    })
  }

  get(sessionId: string): Attachment | undefined {
    return this.#attachments.get(sessionId)
  }

  all(): readonly Attachment[] {
    return [...this.#attachments.values()]
  }

  /**
   * Takes the place of the attachment that this connection has to the same session, if it has one. `requireWanted` throws when
   * the client has cancelled its request or may no longer make it. Throws that, CLIENT_GONE and SESSION_CLOSED.
   */
  attach(session: SessionHandle, start: AttachmentStart, requireWanted: () => void): Promise<Attachment> {
    return this.#attaching.run(session.id, () => this.#attach(session, start, requireWanted))
  }

  /** From here on the client gets every entry as it is stored. */
  async goLive(attachment: Attachment): Promise<void> {
    await attachment.goLive()
    const reopened = this.#reopened.get(attachment.session.id)
    if (reopened !== undefined) await this.#follow(reopened)
  }

  /** The client leaves the session: each of its open prompts is answered with its end, else with `reason`. */
  async abandon(sessionId: string, reason: ParleyError): Promise<void> {
    const attachment = this.#attachments.get(sessionId)
    this.#attachments.delete(sessionId)
    this.#reopened.delete(sessionId)
    await attachment?.abandon(reason)
  }

  async abandonAll(reason: ParleyError): Promise<void> {
    await Promise.all([...this.#attachments.keys()].map((sessionId) => this.abandon(sessionId, reason)))
  }

  /** The client has disconnected. */
  detach(): void {
    this.#isDetached = true
    this.#stopWatching()
    for (const attachment of this.#attachments.values()) attachment.detach()
    this.#attachments.clear()
    this.#reopened.clear()
  }

  async #attach(session: SessionHandle, start: AttachmentStart, requireWanted: () => void): Promise<Attachment> {
    const requireAttachable = (): void => {
      if (this.#isDetached) fail('CLIENT_GONE', { method: 'session/load' })
      requireWanted()
    }
    try {
      requireAttachable()
      const former = this.#attachments.get(session.id)
      const attachment = new Attachment(session, this.#client, former?.prompts)
      await attachment.subscribe(start, former, requireAttachable)
      this.#attachments.set(session.id, attachment)
      this.#reopened.delete(session.id)
      return attachment
    } catch (error) {
      session.releaseConfig(start.config)
      throw error
    }
  }

  /** Another client closed the session, or another server took it, and now it was opened again: this client continues from its cursor. */
  async #follow(session: SessionHandle): Promise<void> {
    const attachment = await this.#attaching.run(session.id, async () => {
      const former = this.#attachments.get(session.id)
      if (former === undefined || former.session === session || session.closed.aborted) return undefined
      if (!former.isLive) {
        this.#reopened.set(session.id, session)
        return undefined
      }
      const { start } = former
      // Where it has lost its end, other entries come under numbers that this client has seen.
      const isThere = start.from === 'head' || start.from <= (await session.snapshot()).seq
      return isThere ? this.#attach(session, start, () => undefined) : undefined
    })
    if (attachment !== undefined) await this.goLive(attachment)
  }
}
