/**
 * Tests an agent with prompts: it answers one, its session is reopened in another process, and a turn is cancelled.
 * Shows what the agent does beside what its row of quirks says. This uses its model, so only a user starts it.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitAtMost } from '../../../../async/with-timeout.ts'
import { isParleyError } from '../../../../errors/parley-error.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { AgentLaunch } from '../launch.ts'
import { AgentProcess } from '../process/agent-process.ts'
import type { PeerListener } from '../process/peer.ts'
import { NOT_FOUND, WireError } from '../process/wire-error.ts'
import type { Quirks } from '../quirks.ts'
import { AgentAbilities } from '../reattach/abilities.ts'
import { Replay } from '../reattach/replay.ts'
import { CANCELLED } from '../requests/permission.ts'
import { type SaidUpdate, readUpdate } from '../updates/read-update.ts'
import { type ProbeParts, introduced } from './probe.ts'

/** One thing that was tried. */
export interface Finding {
  /** A field of the row, or a method. */
  readonly what: string
  readonly found: string
  /** What the row says, where it says something. */
  readonly row?: string
  /** What Parley assumes is safe with what was found. */
  readonly fits: boolean
}

const SHORT = 'Reply with this word alone: parley'
const LONG = 'Count from 1 to 2000, each number on a line of its own. Do not use any tool.'
const SILENCE_MS = 120_000
/** Updates that come after a response come within this time. */
const LATE_MS = 1_000
const FIRST_WORDS_MS = 20_000
const FORGET_MS = 2_000
/** `AgentProcess.stop` sends SIGTERM after the first, and SIGKILL after both. */
const EOF_MS = 1_000
const TERM_MS = 2_000
const WAYS = ['eof', 'term', 'kill'] as const

/** In an empty folder. Throws what keeps the agent from being started; one that ends or hangs later is a finding. */
export async function tryTurns(launch: AgentLaunch, quirks: Quirks, parts: ProbeParts): Promise<readonly Finding[]> {
  const cwd = await mkdtemp(join(tmpdir(), 'parley-agent-'))
  const trial = new Trial(launch, quirks, { ...parts, cwd })
  try {
    await trial.play()
    return trial.findings
  } catch (error) {
    const isFinding = isParleyError(error, 'AGENT_START_FAILED') || isParleyError(error, 'AGENT_STUCK')
    if (!isFinding || trial.findings.length === 0) throw error
    return [...trial.findings, { what: 'its process', found: error.message, fits: false }]
  } finally {
    await trial.end()
    await rm(cwd, { recursive: true, force: true })
  }
}

class Trial {
  readonly findings: Finding[] = []
  readonly #launch: AgentLaunch
  readonly #quirks: Quirks
  readonly #parts: ProbeParts & { readonly cwd: string }
  #heard = new Heard(() => 0)
  #process: AgentProcess | undefined
  #abilities: AgentAbilities | undefined
  /** The sessions that it has because of this, and that were not deleted yet. */
  readonly #made = new Set<string>()

  constructor(launch: AgentLaunch, quirks: Quirks, parts: ProbeParts & { readonly cwd: string }) {
    this.#launch = launch
    this.#quirks = quirks
    this.#parts = parts
  }

  async play(): Promise<void> {
    const abilities = await this.#start()
    const open = await this.#turns(abilities)
    if (open === undefined) return
    for (const verb of ['close', 'delete'] as const)
      if (verb === 'close' ? abilities.canClose : abilities.canDelete)
        await this.#tried(`session/${verb}`, this.#ask(`session/${verb}`, { sessionId: open }))
    this.#made.delete(open)
  }

  /** The session that is open after them. */
  async #turns(abilities: AgentAbilities): Promise<string | undefined> {
    const sessionId = await this.#new()
    const live = sessionId === undefined ? undefined : await this.#answer(sessionId)
    if (sessionId === undefined || live === undefined) return sessionId
    if (abilities.canList) await this.#list(sessionId)
    if (abilities.canLoad || abilities.canResume) await this.#unknown(abilities)
    await this.#stop()
    await this.#start()
    const isOpen = await this.#reopen(sessionId, { abilities, live })
    const id = isOpen ? sessionId : await this.#new()
    if (id !== undefined) await this.#cancel(id)
    return id
  }

  /** Undefined if the agent refuses it. */
  async #new(): Promise<string | undefined> {
    const made = await this.#tried('session/new', this.#ask('session/new', this.#place()))
    if (made === undefined) return undefined
    const id = String(fieldsOf(made)['sessionId'])
    this.#made.add(id)
    return id
  }

  async end(): Promise<void> {
    try {
      await this.#forget()
    } catch {
      // It cannot be asked any more, and the findings say why.
    } finally {
      await this.#process?.stop('kill')
    }
  }

  /** What was not deleted on the way: the user's agent keeps no session of this, as far as it answers. */
  async #forget(): Promise<void> {
    const { clock } = this.#parts
    if (this.#made.size === 0 || this.#abilities?.canDelete !== true) return
    if (this.#running().isEnding) await this.#start()
    const { peer, ended } = this.#running()
    for (const sessionId of this.#made) {
      const answered = peer.request('session/delete', { sessionId }).catch(() => undefined)
      await waitAtMost(Promise.race([answered, ended]), { clock, ms: FORGET_MS })
    }
  }

  /** The words of its answer; undefined if it gave none. */
  async #answer(sessionId: string): Promise<readonly SaidUpdate[] | undefined> {
    const began = this.#now()
    const response = await this.#tried('session/prompt', this.#ask('session/prompt', promptOf(sessionId, SHORT)))
    if (response === undefined) return undefined
    const took = this.#now() - began
    const lateMs = await this.#after()
    const said = this.#heard.words
    const { stopReason } = fieldsOf(response)
    const isEmpty = said.length === 0
    this.#found('session/prompt', `${String(stopReason)} after ${Math.round(took)} ms`, stopReason === 'end_turn')
    if (isEmpty) this.#row('emptyEndIsError', 'it ended without a word', this.#quirks.emptyEndIsError)
    this.#row('lateMs', `${lateMs} ms`, lateMs <= this.#quirks.lateMs)
    return isEmpty ? undefined : said
  }

  async #list(sessionId: string): Promise<void> {
    const listed = await this.#tried('session/list', this.#ask('session/list', { cwd: this.#parts.cwd }))
    if (listed === undefined) return
    const { sessions } = fieldsOf(listed)
    const isThere = Array.isArray(sessions) && sessions.some((one) => fieldsOf(one)['sessionId'] === sessionId)
    this.#found('session/list', isThere ? 'has the session' : 'does not have the session', isThere)
  }

  /** How it says that it has no such session. */
  async #unknown({ canLoad }: AgentAbilities): Promise<void> {
    const method = canLoad ? 'session/load' : 'session/resume'
    try {
      await this.#ask(method, { ...this.#place(), sessionId: 'parley-has-no-such-session' })
      this.#row('notFound', 'it opens a session that there is not', false)
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      const fits = error.code === NOT_FOUND || this.#quirks.notFound.some((pattern) => error.fits(pattern))
      this.#row('notFound', this.#masked(error), fits)
    }
  }

  async #stop(): Promise<void> {
    const began = this.#now()
    await this.#process?.stop('eof')
    const took = this.#now() - began
    const way = took < EOF_MS ? 'eof' : took < EOF_MS + TERM_MS ? 'term' : 'kill'
    this.#row('stopWith', way, WAYS.indexOf(way) <= WAYS.indexOf(this.#quirks.stopWith))
  }

  /** Whether the session is open again. */
  async #reopen(
    sessionId: string,
    { abilities, live }: { readonly abilities: AgentAbilities; readonly live: readonly SaidUpdate[] },
  ): Promise<boolean> {
    const { canLoad, canResume } = abilities
    let isOpen = false
    if (canResume) {
      const resumed = await this.#tried('session/resume', this.#ask('session/resume', { ...this.#place(), sessionId }))
      isOpen = resumed !== undefined
      if (isOpen) this.#found('session/resume', this.#heard.words.length === 0 ? 'is silent' : 'replays', true)
    }
    if (!canLoad) return isOpen
    if (isOpen) {
      await this.#process?.stop('kill')
      await this.#start()
    }
    const loaded = await this.#tried('session/load', this.#ask('session/load', { ...this.#place(), sessionId }))
    if (loaded === undefined) return false
    const afterMs = await this.#after()
    this.#compare(live)
    this.#row('replayAfterResponseMs', `${afterMs} ms`, afterMs <= this.#quirks.replayAfterResponseMs)
    return true
  }

  #compare(live: readonly SaidUpdate[]): void {
    const replay = new Replay(this.#quirks.pseudoUser)
    for (const said of this.#heard.words) replay.take(said)
    const turn = replay.turns.find(({ prompt }) => prompt.includes(SHORT))
    const hasAnswer = turn?.parts.some(({ kind }) => kind === 'text') === true
    const found = turn === undefined ? 'has lost the prompt' : hasAnswer ? 'replays the turn' : 'has lost the answer'
    this.#found('session/load', found, hasAnswer)
    const before = idsOf(live)
    const isStable = before.length > 0 && idsOf(this.#heard.words).some((id) => before.includes(id))
    this.#row('stableIds', String(isStable), isStable || !this.#quirks.stableIds)
  }

  async #cancel(sessionId: string): Promise<void> {
    const { clock } = this.#parts
    const process = this.#running()
    const words = this.#heard.begin()
    const answered = this.#tried('a prompt to cancel', this.#ask('session/prompt', promptOf(sessionId, LONG)))
    let isOver = false
    void answered.catch(() => undefined).then(() => (isOver = true))
    await waitAtMost(Promise.race([words, answered]), { clock, ms: FIRST_WORDS_MS })
    if (isOver) return this.#found('session/cancel', 'the turn had ended before', true)
    const began = this.#now()
    await process.peer.notify('session/cancel', { sessionId })
    const { cancelKillMs } = this.#quirks
    const response = await waitAtMost(answered, { clock, ms: cancelKillMs })
    if (!isOver) return this.#row('cancelKillMs', `no answer in ${cancelKillMs} ms`, false)
    if (response === undefined) return undefined
    const { stopReason } = fieldsOf(response)
    const took = Math.round(this.#now() - began)
    this.#found('session/cancel', `${String(stopReason)} after ${took} ms`, stopReason === 'cancelled')
  }

  async #start(): Promise<AgentAbilities> {
    const { signal, cwd } = this.#parts
    this.#heard = new Heard(() => this.#now())
    const start = { launch: this.#launch, sessionId: 'test', cwd, listener: this.#heard, signal }
    const process = await AgentProcess.start(start, this.#parts)
    this.#process = process
    const { capabilities } = await introduced(process, this.#parts)
    return (this.#abilities = new AgentAbilities(capabilities, this.#quirks))
  }

  #place(): object {
    return { cwd: this.#parts.cwd, mcpServers: [] }
  }

  #running(): AgentProcess {
    if (this.#process === undefined) throw new Error('no agent was started')
    return this.#process
  }

  async #ask(method: string, params: object): Promise<unknown> {
    this.#heard.clear()
    const { signal } = this.#parts
    const result = await this.#running().ask(method, params, { silenceMs: SILENCE_MS, signal })
    this.#heard.answered()
    return result ?? {}
  }

  /** Undefined for what the agent refuses, which is a finding. */
  async #tried(what: string, work: Promise<unknown>): Promise<unknown> {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      return this.#found(what, this.#masked(error), false)
    }
  }

  /** How long after the last response an update came; 0 if none did. */
  async #after(): Promise<number> {
    await this.#parts.clock.sleep(LATE_MS, this.#parts.signal)
    return Math.round(this.#heard.lateMs)
  }

  #masked(error: WireError): string {
    return this.#running().mask(error.words)
  }

  #found(what: string, found: string, fits: boolean): undefined {
    this.findings.push({ what, found, fits })
  }

  #row(what: keyof Quirks, found: string, fits: boolean): undefined {
    this.findings.push({ what, found, row: JSON.stringify(this.#quirks[what]), fits })
  }

  #now(): number {
    return this.#parts.clock.monotonicNow()
  }
}

/** Keeps what was said since the last request. Permissions are cancelled, and nothing else is answered. */
class Heard implements PeerListener {
  words: SaidUpdate[] = []
  lateMs = 0
  readonly #now: () => number
  #answeredAt: number | undefined
  #onWords: () => void = () => undefined

  constructor(now: () => number) {
    this.#now = now
  }

  clear(): void {
    this.words = []
    this.lateMs = 0
    this.#answeredAt = undefined
  }

  answered(): void {
    this.#answeredAt = this.#now()
  }

  /** Resolves with the next words. */
  begin(): Promise<void> {
    return new Promise((resolve) => (this.#onWords = resolve))
  }

  async notified(method: string, params: unknown): Promise<void> {
    if (method !== 'session/update') return
    const said = readUpdate(fieldsOf(params)['update'])
    if (said.kind !== 'chunk' && said.kind !== 'call') return
    this.words.push(said)
    if (this.#answeredAt !== undefined) this.lateMs = this.#now() - this.#answeredAt
    this.#onWords()
  }

  requested(method: string): Promise<unknown> | undefined {
    return method === 'session/request_permission' ? Promise.resolve(CANCELLED) : undefined
  }

  noise(): void {
    // Only what it does in answer to Parley is tried.
  }
}

function promptOf(sessionId: string, text: string): object {
  return { sessionId, prompt: [{ type: 'text', text }] }
}

function idsOf(said: readonly SaidUpdate[]): readonly string[] {
  return said.flatMap((one) => (one.kind === 'chunk' && one.role === 'agent' ? (one.messageId ?? []) : []))
}
