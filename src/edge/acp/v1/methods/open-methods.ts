/** How a client comes to have a session open: a new one, a copy, or one that is stored; what it is told first, and what follows. */
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { ParleyError, fail, isParleyError } from '../../../../errors/parley-error.ts'
import type { Agents } from '../../../../ports/agent.ts'
import type { SessionConfig } from '../../../../session/handle.ts'
import type { Session } from '../../../../session/session.ts'
import type { SessionRegistry } from '../../../../session/registry.ts'
import type { Access } from '../../../access.ts'
import type { Answer } from '../../version.ts'
import type { RequestedAgent } from '../initialize/requested-agent.ts'
import type { Attachment, ConnectedClient, Start } from '../attachment/attachment.ts'
import type { Attachments } from '../attachment/attachments.ts'
import type { AdoptedPrompt } from '../attachment/pending-prompts.ts'
import type { Parsed } from './params.ts'
import { settingsResult } from '../render/entry-to-update.ts'

export interface OpenContext {
  readonly sessions: SessionRegistry
  readonly client: ConnectedClient
  readonly agents: Agents
  /** The agent that the client asked for in `initialize`. */
  readonly agent: RequestedAgent
  readonly access: Access
}

/** A session that was opened for whoever attaches next. */
interface Opened {
  readonly session: Session
  readonly opening: SessionConfig
  /** The cursor that the client goes on from, if it names one. */
  readonly after: number | undefined
}

type ResumeParams = Pick<Parsed<'session/load'>, '_meta'>

/** What a client asks to open, and whether it still wants that: it may take it back, or leave. */
interface Wish {
  readonly method: 'session/new' | 'session/load' | 'session/resume' | 'session/fork'
  readonly signal: AbortSignal
}

export class OpenMethods {
  readonly #context: OpenContext
  readonly #attachments: Attachments

  constructor(context: OpenContext, attachments: Attachments) {
    this.#context = context
    this.#attachments = attachments
  }

  async new(params: Parsed<'session/new'>, signal: AbortSignal): Promise<Answer> {
    await requireDirectories(params)
    const { sessions, agents, agent } = this.#context
    const opening = { ...params, agent: await agents.resolveAgentName(agent.name, agent.lent), lent: agent.lent }
    const session = await sessions.create(opening)
    return this.#kept(session.id, async () => this.#begun(session, opening, { method: 'session/new', signal }))
  }

  /** A session that was made for a client and that it does not come to have is deleted: no client knows of it. */
  async #kept(sessionId: string, begin: () => Promise<Answer>): Promise<Answer> {
    try {
      return await begin()
    } catch (error) {
      const { sessions, client } = this.#context
      await sessions.delete(sessionId).catch((reason: unknown) => client.report(reason))
      throw error
    }
  }

  /** Nothing has been said in it yet that its client would not know: the response, how it stands, then what comes. */
  #begun(session: Session, opening: SessionConfig, wish: Wish): Answer {
    const attachment = this.#attach(session, { from: session.state.seq, opening }, wish)
    return {
      result: { sessionId: session.id, ...this.#opened(session) },
      afterwards: () => {
        attachment.tellState()
        return this.#attachments.goLive(attachment)
      },
    }
  }

  /** A copy of a session as it is now, opened. It belongs where its source does. */
  async fork({ sessionId, ...params }: Parsed<'session/fork'>, signal: AbortSignal): Promise<Answer> {
    await requireDirectories(params)
    const { sessions, agent } = this.#context
    const cwd = (await sessions.find(sessionId))?.cwd ?? fail('SESSION_NOT_FOUND', { session: sessionId })
    if (cwd !== params.cwd) fail('SESSION_CWD_DIFFERS', { session: sessionId, cwd, given: params.cwd })
    const forked = await sessions.fork(sessionId)
    const wish = { method: 'session/fork', signal } as const
    return this.#kept(forked, async () => {
      requireWanted(wish)
      const opening = { ...params, lent: agent.lent }
      return this.#begun(await sessions.open(forked, opening), opening, wish)
    })
  }

  /** What every answer to whoever opens a session says of it; `seq` is the last entry, or the last that a load has told. */
  #opened({ requireCreated: { settings, agent, seq: last } }: Session, seq = last) {
    return {
      ...settingsResult(settings, this.#context.client.capabilities.display),
      _meta: { 'parley/seq': seq, 'parley/agent': agent },
    }
  }

  /** What the client has not had yet, then the response, then what comes. */
  async load(params: Parsed<'session/load'>, signal: AbortSignal): Promise<Answer> {
    const wish = { method: 'session/load', signal } as const
    const { session, opening, after } = await this.#open(params, wish)
    await this.#disown(session, params)
    const attachment = this.#attach(session, { from: after ?? 0, opening }, wish)
    attachment.adopt(adoptedIn(params))
    await this.#replay(attachment, signal)
    // What was stored meanwhile comes after the response: whoever loses the connection before that must ask for it again.
    return {
      result: this.#opened(session, attachment.start.from),
      afterwards: () => this.#attachments.goLive(attachment),
    }
  }

  /** What is still on its way over the lost connection comes too late from here on. */
  async #disown(session: Session, params: ResumeParams): Promise<void> {
    const promptIds = adoptedIn(params).map(({ promptId }) => promptId)
    if (promptIds.length === 0) return
    // A disk that is full must keep nobody from reading on; such a prompt is not stored either.
    await session
      .dispatch({ kind: 'reject_unknown_prompts', promptIds })
      .catch((error: unknown) => this.#context.client.report(error))
  }

  /** A load that fails or is cancelled leaves nothing open behind. One that would answer prompts too is not cancelled. */
  async #replay(attachment: Attachment, signal: AbortSignal): Promise<void> {
    const stop = (): void => attachment.detach()
    if (attachment.openPrompts().length === 0) signal.addEventListener('abort', stop, { once: true })
    try {
      await attachment.replay()
      signal.removeEventListener('abort', stop)
      if (signal.aborted && attachment.isLeft) fail('REQUEST_CANCELLED', { method: 'session/load' })
    } catch (error) {
      this.#attachments.abandon(
        attachment.session.id,
        isParleyError(error) ? error : new ParleyError('INTERNAL_ERROR', {}, error),
      )
      throw error
    }
  }

  /** The response, then what comes; with a cursor, first what the client has missed since. */
  async resume(params: Parsed<'session/resume'>, signal: AbortSignal): Promise<Answer> {
    const wish = { method: 'session/resume', signal } as const
    const { session, opening, after } = await this.#open(params, wish)
    await this.#disown(session, params)
    const present = this.#attachments.get(session.id)
    if (present?.session === session && after === undefined) return this.#resumeHere(present, opening, params)
    const attachment = this.#attach(session, { from: after ?? session.state.seq, opening }, wish)
    attachment.adopt(adoptedIn(params))
    if (after === undefined) attachment.tellState()
    return { result: this.#opened(session), afterwards: () => this.#attachments.goLive(attachment) }
  }

  /** Whoever has it open already misses nothing of what is still on its way. */
  #resumeHere(present: Attachment, opening: SessionConfig, params: ResumeParams): Answer {
    present.declare(opening)
    present.adopt(adoptedIn(params))
    present.tellState()
    return { result: this.#opened(present.session), afterwards: async () => present.tellNews() }
  }

  async #open(params: Parsed<'session/load' | 'session/resume'>, wish: Wish): Promise<Opened> {
    const cwdExists = await requireDirectoriesOfStored(params)
    const { sessions, agents, agent } = this.#context
    const named = agent.chosen ? { agent: await agents.resolveAgentName(agent.name, agent.lent) } : {}
    const replaces = this.#attachments.get(params.sessionId)?.feed
    const opening = { ...params, ...named, lent: agent.lent, replaces }
    const session = await sessions.open(params.sessionId, opening)
    try {
      requireWanted(wish)
      if (!cwdExists) await session.dispatchIfStorable({ kind: 'notice', text: cwdIsGone(params.cwd) })
      return { session, opening, after: startOf(params, session) }
    } catch (error) {
      session.releaseConfig(opening)
      throw error
    }
  }

  /** In the same breath as the client is known to be there: one that has left would be attached for good. */
  #attach(session: Session, start: Start, wish: Wish): Attachment {
    try {
      requireWanted(wish)
      // It may have logged out meanwhile.
      this.#context.access.require(wish.method)
      return this.#attachments.attach(session, start)
    } catch (error) {
      session.releaseConfig(start.opening)
      throw error
    }
  }
}

function requireWanted({ method, signal }: Wish): void {
  if (signal.aborted) fail('REQUEST_CANCELLED', { method })
}

function cwdIsGone(cwd: string): string {
  return `The directory ${cwd} of this session is gone. The conversation is whole, but tools that work in it will fail.`
}

/** The cursor that the client goes on from, if it names one. Throws CURSOR_BEYOND. */
function startOf({ _meta }: ResumeParams, { id, state }: Session): number | undefined {
  const after = _meta?.['parley/after'] ?? undefined
  if (after !== undefined && after > state.seq) fail('CURSOR_BEYOND', { session: id, after, head: state.seq })
  return after
}

/** The prompts of the client's former connection that have had no answer. */
function adoptedIn({ _meta }: ResumeParams): readonly AdoptedPrompt[] {
  return _meta?.['parley/prompts'] ?? []
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
    // What keeps the server from looking at it keeps tools from working in it too.
    return false
  }
}
