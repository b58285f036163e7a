/**
 * Opens an agent's own conversation for a session: the one that it had, reopened by `session/resume` or `session/load`, or a
 * new one. What the agent does not know of the session goes in front of the next prompt.
 */
import { waitAtMost } from '../../../../async/with-timeout.ts'
import { fail, isParleyError } from '../../../../errors/parley-error.ts'
import type { AgentMemory, AgentSession, AgentSessionRecord, PastTurn, Turn } from '../../../../ports/agent.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { McpFront } from '../../../../ports/mcp-front.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import { type AgentInfo, type AgentProcess, refusalOf } from '../process/agent-process.ts'
import { LOGIN_NEEDED, NOT_FOUND, WireError } from '../process/wire-error.ts'
import type { Quirks } from '../quirks.ts'
import { AgentAbilities } from './abilities.ts'
import { compare } from './compare.ts'
import { hasMoved } from './divergence.ts'
import { Replay, type ReplayedTurn, untilReplayed } from './replay.ts'
import { type Rendered, asPreamble, budgetFor, lostWords, renderCut, renderTranscript, reseedWords } from './reseed.ts'
import { type ServerQuestions, type ServersGiven, serversFor } from './servers.ts'

/** `session/new`, `load` and `resume` are given up when the agent is silent for so long. */
const OPEN_SILENCE_MS = 120_000
/** A conversation that another process holds is tried for so long. */
const BUSY_MS = 10_000
const BUSY_STEP_MS = 500
/** For what an agent may do without. */
const COURTESY_MS = 2_000

export interface OpeningParts {
  /** The agent's full name. */
  readonly agent: string
  readonly session: AgentSession
  readonly process: AgentProcess
  readonly info: AgentInfo
  readonly quirks: Quirks
  readonly clock: Clock
  readonly outside: { readonly afterthoughtMs: number }
  /** As `ExternalParts` has it. */
  readonly front: McpFront | undefined
  readonly questions: ServerQuestions
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

export interface AgentConversation {
  readonly process: AgentProcess
  readonly info: AgentInfo
  readonly quirks: Quirks
  readonly abilities: AgentAbilities
  readonly sessionId: string
  /** False once the session has other MCP servers than the agent was given. */
  readonly hasServers: () => boolean
  /** What goes in front of the next prompt, because the agent does not know it; empty if it knows everything. */
  preamble: string
  /** Turns that it has and the session has not. */
  outside: readonly ReplayedTurn[]
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
  readonly #toldLeftOut: string
  /** The session had this agent before. */
  readonly #hasMet: boolean
  #servers: Promise<ServersGiven> | undefined

  constructor(parts: OpeningParts, isLastTry: boolean) {
    this.#parts = parts
    this.#isLastTry = isLastTry
    this.#abilities = new AgentAbilities(parts.info.capabilities, parts.quirks)
    this.#hasMet = parts.session.memory !== undefined
    this.#toldLeftOut = (parts.session.memory?.leftOut ?? []).join('\n')
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
      const preamble = await this.#unprimed(source)
      await session.remember({
        ...(await this.#record()),
        ...this.#primedAgain(primedBytes),
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
      ...(await this.#place()),
      ...(await this.#primed(source)),
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
    if (this.#abilities.canDelete) await courtesy(process, clock, { method: 'session/delete', sessionId })
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
    const before = await this.#unprimed(memory)
    await this.#remember(memory, 'resume')
    const { name } = process.launch
    if (hasMoved)
      await session.notice(`${name}'s own session went on outside Parley; ${name} cannot show what came there.`)
    const cut = memory.standing === 'cut' ? await this.#lastTurn(memory) : undefined
    const knows = this.#parts.quirks.cutKeeps
    const lost = cut === undefined || knows === 'partial' ? '' : cutWords(cut, knows)
    return this.#made(memory.agentSessionId, before + lost)
  }

  async #load(memory: AgentMemory): Promise<AgentConversation> {
    const replay = new Replay(this.#parts.quirks.pseudoUser)
    await this.#swallowing(replay, () => this.#askUnlessBusy('session/load', memory))
    const transcript = await this.#transcript(memory.upTo)
    const compared = compare(transcript, replay.turns, { hasIds: this.#parts.quirks.stableIds })
    if (compared.isEmpty) return this.#begin('it came back without any of it')
    const before = await this.#unprimed(memory)
    await this.#remember(memory, 'load')
    const made = await this.#made(memory.agentSessionId, before + lostWords(transcript, compared))
    return { ...made, outside: compared.outside }
  }

  /** A new conversation; if the session has turns already, the agent gets them. */
  async #begin(reason: string): Promise<AgentConversation> {
    const { session, process } = this.#parts
    // A session that is being created has no turns, and waits for this.
    const isSystem = this.#abilities.takesSystemPrompt && !(session.isNew && session.generation === 0)
    const before = isSystem ? await this.#rendered() : undefined
    const result = await this.#ask('session/new', { ...(await this.#place()), ...systemPrompt(before?.text ?? '') })
    const { sessionId } = fieldsOf(result)
    if (typeof sessionId !== 'string' || sessionId === '') return process.failed('session/new', 'it gave no session id')
    const rendered = before ?? (await this.#rendered())
    const { turns, text, upTo, budget } = rendered
    const how = turns === 0 && reason === '' ? 'new' : 'reseed'
    await session.remember({
      ...(await this.#record()),
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

  /** All turns before the one that runs. */
  async #rendered(): Promise<Rendered & { readonly upTo: number; readonly budget: number }> {
    const { session } = this.#parts
    let [last, running]: [number, number | undefined] = [0, undefined]
    const past = pastOnly(session.pastTurns(0), (cursor) => (running = cursor))
    // What another agent has said of its model says nothing of this one's.
    const isOwnWindow = session.memory !== undefined && session.memory.standing !== 'outdated'
    const budget = budgetFor(isOwnWindow ? session.windowTokens : undefined)
    const rendered = await renderTranscript(
      noting(past, (cursor) => (last = cursor)),
      budget,
    )
    return { ...rendered, upTo: running ?? last, budget }
  }

  /** What it got as system prompt when the conversation began: an agent need not have stored it. */
  async #primed(memory: AgentMemory): Promise<object> {
    if (!this.#abilities.takesSystemPrompt) return {}
    return systemPrompt((await this.#renderedFor(memory))?.text ?? '')
  }

  /** The same for an agent that takes no system prompt any more, in front of the next prompt. */
  async #unprimed(memory: AgentMemory): Promise<string> {
    const { session, process } = this.#parts
    const rendered = this.#abilities.takesSystemPrompt ? undefined : await this.#renderedFor(memory)
    if (rendered === undefined) return ''
    await session.notice(reseedWords(process.launch.name, '', rendered))
    return asPreamble(rendered.text)
  }

  async #renderedFor({ primedBytes, upTo }: AgentMemory): Promise<Rendered | undefined> {
    if (primedBytes === undefined) return undefined
    return renderTranscript(upToCursor(pastOnly(this.#parts.session.pastTurns(0)), upTo), primedBytes)
  }

  #primedAgain(primedBytes: number | undefined): { readonly primedBytes?: number } {
    return primedBytes === undefined || !this.#abilities.takesSystemPrompt ? {} : { primedBytes }
  }

  async #made(sessionId: string, preamble: string): Promise<AgentConversation> {
    const { process, info, quirks } = this.#parts
    const given = await this.#servers
    await this.#tellLeftOut()
    const hasServers = (): boolean => given?.isCurrent() !== false
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
    const primed = await this.#primed(memory)
    const until = clock.monotonicNow() + BUSY_MS
    for (;;) {
      try {
        return await this.#ask(method, { sessionId: agentSessionId, ...(await this.#place()), ...primed })
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
      if (error.code === LOGIN_NEEDED)
        fail('AGENT_LOGIN_NEEDED', { agent: process.launch.name, methods: loginWords(info) }, error)
      if (method !== 'session/new') throw error
      return fail('AGENT_REFUSED', { agent: process.launch.name, method, reason: refusalOf(error, process) }, error)
    }
  }

  async #place(): Promise<object> {
    const { session } = this.#parts
    this.#servers ??= this.#serversGiven()
    const { servers } = await this.#servers
    const [, ...directories] = session.roots
    const roots = this.#abilities.hasRoots && directories.length > 0 ? { additionalDirectories: directories } : {}
    return { cwd: session.cwd, mcpServers: servers, ...roots }
  }

  /** The addresses of a process are its own: they end with it. */
  async #serversGiven(): Promise<ServersGiven> {
    const { session, process, front, questions, quirks } = this.#parts
    const { mcp: way } = process.launch
    const { asks } = quirks
    const given = await serversFor(session, { way, mcp: this.#abilities.mcp, front, questions, asks })
    process.secrets.add(given.secrets)
    void process.ended.then(() => given.close())
    return given
  }

  async #record(): Promise<Omit<AgentSessionRecord, 'generation' | 'agentSessionId' | 'how' | 'upTo'>> {
    const { agent, info, session } = this.#parts
    const { cwd, roots } = session
    const { servers, directories } = await this.#leftOut()
    return {
      agent,
      version: info.version,
      caps: this.#abilities.names,
      cwd,
      roots,
      leftOut: [...servers, ...directories],
    }
  }

  /** What the session has and its agent cannot use. */
  async #leftOut(): Promise<{ readonly servers: readonly string[]; readonly directories: readonly string[] }> {
    const [, ...directories] = this.#parts.session.roots
    const servers = (await this.#servers)?.leftOut ?? []
    return { servers, directories: this.#abilities.hasRoots ? [] : directories }
  }

  /** Once for each session, and again when it is something else. */
  async #tellLeftOut(): Promise<void> {
    const { servers, directories } = await this.#leftOut()
    const { session, process } = this.#parts
    if ([...servers, ...directories].join('\n') === this.#toldLeftOut) return
    const { name } = process.launch
    if (servers.length > 0) await session.notice(`${name} cannot use these MCP servers: ${servers.join(', ')}.`)
    if (directories.length > 0)
      await session.notice(`${name} works in one directory only and was not given ${directories.join(', ')}.`)
  }

  async #remember(memory: AgentMemory, how: 'load' | 'resume'): Promise<void> {
    const { standing: _standing, primedBytes, ...record } = memory
    const primed = this.#primedAgain(primedBytes)
    await this.#parts.session.remember({ ...record, ...primed, ...(await this.#record()), how })
  }

  async #transcript(after: number): Promise<readonly PastTurn[]> {
    const turns: PastTurn[] = []
    for await (const turn of pastOnly(this.#parts.session.pastTurns(after))) {
      if (turn.by !== 'agent') turns.push(turn)
    }
    return turns
  }

  async #lastTurn({ upTo }: AgentMemory): Promise<PastTurn | undefined> {
    return (await this.#transcript(upTo)).at(-1)
  }
}

/** Turns that were made in the agent's own tool become part of the transcript, once, in front of the next prompt's answer. */
export async function takeInOutside(conversation: AgentConversation, turn: Turn, session: AgentSession): Promise<void> {
  const { outside, process } = conversation
  conversation.outside = []
  if (outside.length === 0) return
  const count = outside.length === 1 ? '1 turn was' : `${outside.length} turns were`
  await session.notice(`${count} added outside Parley, in ${process.launch.name}'s own session:`, 'again')
  let message = 0
  for (const { prompt, parts } of outside) {
    message += 1
    await turn.tellOutside('user', message, { type: 'text', text: prompt })
    message += 1
    for (const part of parts) {
      const text = part.kind === 'text' ? part.text : `[${part.title}: ${part.status}]`
      await turn.tellOutside('agent', message, { type: 'text', text })
    }
  }
}

/** Without the turn that runs; `upTo` gets the last entry before it. */
async function* pastOnly(
  turns: AsyncIterable<PastTurn>,
  upTo: (cursor: number) => void = () => undefined,
): AsyncGenerator<PastTurn> {
  for await (const turn of turns) {
    if (turn.end === undefined && turn.by !== 'outside') upTo(turn.cursor - 1)
    else yield turn
  }
}

async function* noting(turns: AsyncIterable<PastTurn>, note: (cursor: number) => void): AsyncGenerator<PastTurn> {
  for await (const turn of turns) {
    note(turn.cursor)
    yield turn
  }
}

async function* upToCursor(turns: AsyncIterable<PastTurn>, last: number): AsyncGenerator<PastTurn> {
  for await (const turn of turns) {
    if (turn.cursor > last) return
    yield turn
  }
}

/** A part of the parameters that open a conversation. */
function systemPrompt(text: string): object {
  return text === '' ? {} : { systemPrompt: { mode: 'append', content: [{ type: 'text', text }] } }
}

function cutWords(turn: PastTurn, knows: Quirks['cutKeeps']): string {
  return renderCut(turn, { knowsPrompt: knows !== 'nothing' })
}

/** The ways to log in, for the sentence of an error. */
export function loginWords({ authMethods }: AgentInfo): string {
  const names = authMethods.flatMap((one) => {
    const { name, id } = fieldsOf(one)
    return typeof name === 'string' ? [name] : typeof id === 'string' ? [id] : []
  })
  return names.length === 0 ? '' : ` (${names.slice(0, 5).join(', ')})`
}

export async function closeConversation(
  { process, abilities, sessionId }: AgentConversation,
  clock: Clock,
): Promise<void> {
  if (!abilities.canClose || process.end !== undefined) return
  await courtesy(process, clock, { method: 'session/close', sessionId })
}

async function courtesy(
  process: AgentProcess,
  clock: Clock,
  { method, sessionId }: { readonly method: string; readonly sessionId: string },
): Promise<void> {
  const answered = process.peer.request(method, { sessionId }).catch(() => undefined)
  await waitAtMost(Promise.race([answered, process.ended]), { clock, ms: COURTESY_MS })
}
