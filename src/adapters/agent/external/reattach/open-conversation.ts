/**
 * Opens an agent's own conversation for a session: the one that it had, reopened by `session/resume` or `session/load`, a copy
 * of that of another session, or a new one. What the agent does not know of the session goes in front of the next prompt.
 */
import { fail, isParleyError } from '../../../../errors/parley-error.ts'
import type { AgentMemory, PastTurn } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import { refusalOf } from '../process/agent-process.ts'
import { requireLogin } from '../process/introduction.ts'
import { NOT_FOUND, WireError } from '../process/wire-error.ts'
import type { Quirks } from '../quirks.ts'
import { AgentAbilities } from './abilities.ts'
import { compare } from './compare.ts'
import { type AgentConversation, deleteConversation } from './conversation.ts'
import { hasMoved } from './divergence.ts'
import { type AgentOfSession, OpeningParams } from './opening-params.ts'
import { Priming, systemPrompt } from './priming.ts'
import { Replay, untilReplayed } from './replay.ts'
import { asPreamble, lostWords, renderCut, reseedWords } from './reseed.ts'

/** `session/new`, `load` and `resume` are given up when the agent is silent for so long. */
const OPEN_SILENCE_MS = 120_000
/** A conversation that another process holds is tried for so long. */
const BUSY_MS = 10_000
const BUSY_STEP_MS = 500

export interface OpeningParts extends AgentOfSession {
  readonly clock: Clock
  readonly outside: { readonly afterthoughtMs: number }
  readonly signal: Signal
  /** Updates go there until it is called with undefined. */
  readonly swallow: (replay: Replay | undefined) => void
  readonly opened: (opened: OpenedResponse) => void
}

/** The response to the request that opened the conversation. */
export interface OpenedResponse {
  readonly response: unknown
  /** It was `session/new`, and not `load` or `resume`. */
  readonly isNew: boolean
}

/** The agent failed to reopen its conversation in a way that a fresh process may not. */
export class ReopeningFailed extends Error {}

/**
 * With `isLastTry`, none is copied, and one that cannot be reopened is replaced by a new one. Throws ReopeningFailed,
 * AGENT_LOGIN_NEEDED, AGENT_SESSION_BUSY, AGENT_START_FAILED, AGENT_STUCK and AGENT_REFUSED.
 */
export async function openConversation(parts: OpeningParts, isLastTry: boolean): Promise<AgentConversation> {
  return new Opening(parts, isLastTry).open()
}

class Opening {
  readonly #parts: OpeningParts
  readonly #isLastTry: boolean
  readonly #abilities: AgentAbilities
  readonly #params: OpeningParams
  readonly #priming: Priming
  /** The session had this agent before. */
  readonly #hasMet: boolean

  constructor(parts: OpeningParts, isLastTry: boolean) {
    this.#parts = parts
    this.#isLastTry = isLastTry
    this.#abilities = new AgentAbilities(parts.info.capabilities, parts.quirks)
    this.#params = new OpeningParams(parts, this.#abilities)
    this.#priming = new Priming(parts.process.launch.name, parts.session, this.#abilities)
    this.#hasMet = parts.session.memory !== undefined
  }

  async open(): Promise<AgentConversation> {
    const { session, quirks } = this.#parts
    const { memory } = session
    const source = await this.#forkable(memory)
    if (source !== undefined) return this.#fork(source)
    if (memory === undefined || memory.standing === 'outdated') return this.#begin('')
    if (memory.standing === 'unprompted' && !quirks.unpromptedLoads) return this.#begin('')
    return this.#reopen(memory)
  }

  /** Of a session that is a fork: the conversation that its agent can copy, because both end at the same place. */
  async #forkable(memory: AgentMemory | undefined): Promise<AgentMemory | undefined> {
    const { session } = this.#parts
    const isAgain = memory?.standing === 'unprompted' && memory.how === 'fork'
    if (!this.#abilities.canFork || this.#isLastTry || session.isNew) return undefined
    if (memory !== undefined && !isAgain) return undefined
    const source = await session.forkable()
    return source?.standing === 'clean' && !(await this.#hasMoved(source)) ? source : undefined
  }

  /** The agent copies its own conversation. */
  async #fork(source: AgentMemory): Promise<AgentConversation> {
    const { session, process } = this.#parts
    try {
      const { sessionId } = fieldsOf(await this.#copied(source))
      if (typeof sessionId !== 'string' || sessionId === '')
        return await this.#begin('it gave no id for the copy of it')
      // The source has gone on meanwhile, and the copy may have more than this session.
      if ((await session.forkable()) === undefined) {
        await this.#discard(sessionId)
        return await this.#begin('')
      }
      const { upTo, primedBytes } = source
      const preamble = await this.#priming.unprimed(source)
      await session.remember({
        ...this.#params.record(),
        ...this.#priming.primedAgain(primedBytes),
        generation: session.generation + 1,
        agentSessionId: sessionId,
        how: 'fork',
        upTo,
      })
      await this.#tellFreedom()
      return await this.#made(sessionId, preamble)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      return this.#begin(`it could not copy it: ${refusalOf(error, process)}`)
    }
  }

  /** Throws ReopeningFailed if the agent ends or is silent: it may well begin a conversation. */
  async #copied(source: AgentMemory): Promise<unknown> {
    const { quirks, process } = this.#parts
    const params = {
      sessionId: source.agentSessionId,
      ...(await this.#params.place()),
      ...(await this.#priming.primed(source)),
    }
    try {
      return await this.#swallowing(new Replay(quirks.pseudoUser), () => this.#ask('session/fork', params))
    } catch (error) {
      if (!isParleyError(error, 'AGENT_START_FAILED') && !isParleyError(error, 'AGENT_STUCK')) throw error
      throw new ReopeningFailed(refusalOf(error, process))
    }
  }

  /** A copy that the session does not take. */
  async #discard(sessionId: string): Promise<void> {
    const { process, clock } = this.#parts
    if (this.#abilities.canDelete) await deleteConversation(process, sessionId, clock)
  }

  async #reopen(memory: AgentMemory): Promise<AgentConversation> {
    const { canLoad, canResume } = this.#abilities
    const isClean = memory.standing !== 'cut'
    try {
      const hasMoved = isClean && canResume && (await this.#hasMoved(memory))
      if (canResume && ((isClean && !hasMoved) || !canLoad)) return await this.#resume(memory, hasMoved)
      if (canLoad) return await this.#load(memory)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      return this.#notReopened(error)
    }
    return this.#begin('it cannot reopen sessions')
  }

  async #hasMoved(memory: AgentMemory): Promise<boolean> {
    const { process } = this.#parts
    return this.#abilities.canList && (await hasMoved(process, memory, this.#parts))
  }

  async #notReopened(error: WireError): Promise<AgentConversation> {
    const reason = refusalOf(error, this.#parts.process)
    const isGone = error.code === NOT_FOUND || this.#parts.quirks.notFound.some((pattern) => error.fits(pattern))
    if (!isGone && !this.#isLastTry) throw new ReopeningFailed(reason)
    return this.#begin(reason)
  }

  async #resume(memory: AgentMemory, hasMoved: boolean): Promise<AgentConversation> {
    const { process, session } = this.#parts
    const swallowed = new Replay(this.#parts.quirks.pseudoUser)
    await this.#swallowing(swallowed, () => this.#askUnlessBusy('session/resume', memory))
    const before = await this.#priming.unprimed(memory)
    await this.#remember(memory, 'resume')
    const { name } = process.launch
    if (hasMoved)
      await session.notice(`${name}'s own session went on outside Parley; ${name} cannot show what came there.`)
    const cut = memory.standing === 'cut' ? await this.#priming.lastTurn(memory) : undefined
    const knows = this.#parts.quirks.cutKeeps
    const lost = cut === undefined || knows === 'partial' ? '' : cutWords(cut, knows)
    return this.#made(memory.agentSessionId, before + lost)
  }

  async #load(memory: AgentMemory): Promise<AgentConversation> {
    const replay = new Replay(this.#parts.quirks.pseudoUser)
    await this.#swallowing(replay, () => this.#askUnlessBusy('session/load', memory))
    const transcript = await this.#priming.transcript(memory.upTo)
    const compared = compare(transcript, replay.turns, { hasIds: this.#parts.quirks.stableIds })
    if (compared.isEmpty) return this.#begin('it came back without any of it')
    const before = await this.#priming.unprimed(memory)
    await this.#remember(memory, 'load')
    const made = await this.#made(memory.agentSessionId, before + lostWords(transcript, compared))
    return { ...made, outside: compared.outside }
  }

  /** A new conversation; if the session has turns already, the agent gets them. */
  async #begin(reason: string): Promise<AgentConversation> {
    const { session, process } = this.#parts
    // A session that is being created has no turns, and waits for this.
    const isSystem = this.#abilities.takesSystemPrompt && !(session.isNew && session.generation === 0)
    const before = isSystem ? await this.#priming.rendered() : undefined
    const result = await this.#ask('session/new', {
      ...(await this.#params.place()),
      ...systemPrompt(before?.text ?? ''),
    })
    const { sessionId } = fieldsOf(result)
    if (typeof sessionId !== 'string' || sessionId === '') return process.failed('session/new', 'it gave no session id')
    const rendered = before ?? (await this.#priming.rendered())
    const { turns, text, upTo, budget } = rendered
    const how = turns === 0 && reason === '' ? 'new' : 'reseed'
    await session.remember({
      ...this.#params.record(),
      generation: session.generation + 1,
      agentSessionId: sessionId,
      how,
      upTo,
      ...(isSystem && text !== '' && { primedBytes: budget }),
    })
    if (how === 'reseed') await session.notice(reseedWords(process.launch.name, reason, rendered))
    await this.#tellFreedom()
    return this.#made(sessionId, isSystem ? '' : asPreamble(text))
  }

  async #made(sessionId: string, preamble: string): Promise<AgentConversation> {
    const { process, info, quirks } = this.#parts
    await this.#params.tellLeftOut()
    const hasServers = (): boolean => this.#params.hasServers
    return { process, info, quirks, abilities: this.#abilities, sessionId, hasServers, preamble, outside: [] }
  }

  /** Once, when the session gets an agent that no user can hold back. */
  async #tellFreedom(): Promise<void> {
    const { session, process, quirks } = this.#parts
    if (quirks.asks !== 'never' || this.#hasMet) return
    const { name } = process.launch
    await session.notice(`${name} never asks before it changes files or runs commands, and Parley is no sandbox.`)
  }

  /** What the agent says while its conversation is reopened was said before: it is not stored a second time. */
  async #swallowing(replay: Replay, reopen: () => Promise<unknown>): Promise<unknown> {
    const { swallow, quirks, clock } = this.#parts
    swallow(replay)
    try {
      const response = await reopen()
      await untilReplayed(replay, quirks, clock)
      return response
    } finally {
      swallow(undefined)
    }
  }

  async #askUnlessBusy(method: string, memory: AgentMemory): Promise<unknown> {
    const { clock, quirks, process, signal } = this.#parts
    const { agentSessionId } = memory
    const primed = await this.#priming.primed(memory)
    const until = clock.monotonicNow() + BUSY_MS
    for (;;) {
      try {
        return await this.#ask(method, { sessionId: agentSessionId, ...(await this.#params.place()), ...primed })
      } catch (error) {
        if (!(error instanceof WireError) || !quirks.busy.some((pattern) => error.fits(pattern))) throw error
        if (clock.monotonicNow() >= until)
          fail('AGENT_SESSION_BUSY', { agent: process.launch.name, id: agentSessionId }, error)
      }
      await clock.sleep(BUSY_STEP_MS, signal)
    }
  }

  /** Throws AGENT_LOGIN_NEEDED; other refusals of a new conversation are AGENT_REFUSED. */
  async #ask(method: string, params: object): Promise<unknown> {
    const { process, info, signal, opened } = this.#parts
    try {
      const response = await process.ask(method, params, { silenceMs: OPEN_SILENCE_MS, signal })
      opened({ response, isNew: method === 'session/new' })
      return response
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      requireLogin(error, process, info)
      if (method !== 'session/new') throw error
      return fail('AGENT_REFUSED', { agent: process.launch.name, method, reason: refusalOf(error, process) }, error)
    }
  }

  async #remember(memory: AgentMemory, how: 'load' | 'resume'): Promise<void> {
    const { standing: _standing, primedBytes, ...record } = memory
    const primed = this.#priming.primedAgain(primedBytes)
    await this.#parts.session.remember({ ...record, ...primed, ...this.#params.record(), how })
  }
}

function cutWords(turn: PastTurn, knows: Quirks['cutKeeps']): string {
  return renderCut(turn, { knowsPrompt: knows !== 'nothing' })
}
