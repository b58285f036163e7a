/** The agent that plays a script, the same for every prompt: for tests, demos and measurements. */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { fileReasonOf } from '../../../errors/file-reason.ts'
import { fail } from '../../../errors/parley-error.ts'
import type {
  Agent,
  AgentCapabilities,
  AgentSession,
  PromptKinds,
  ResumedCall,
  StopReason,
  ToolRequest,
  Turn,
} from '../../../ports/agent.ts'
import type { Clock } from '../../../ports/clock.ts'
import { mayContinue } from '../may-continue.ts'
import { commandsOfServers, filledPrompt, showPrompt, typedIn } from '../server-prompts.ts'
import { ClientPlayer } from './client-player.ts'
import { NO_OFFER, numberedLines, offerIn } from './offer.ts'
import {
  type ScriptedCall,
  type ScriptedRequest,
  type Permission,
  type Script,
  type SessionStep,
  type ScriptStep,
  assertUnprivileged,
  isForPerson,
  parseScript,
} from './steps.ts'

/** How long a call waits for servers that are still connecting (docs/internals/guarantees.md, 9). */
const TOOLS_TIMEOUT_MS = 10_000

/** No script is longer; a device or a pipe has no end. */
const MAX_SCRIPT_BYTES = 16 * 1024 * 1024

/** The first line of a script, which says what the agent offers, is no longer. */
const MAX_OFFER_BYTES = 256 * 1024

export interface ScriptFile {
  readonly path: string
  /** A file named it, and not the user: its calls need permission like those of a model, and it cannot permit itself anything. */
  readonly isAsked: boolean
}

/** Reads its file again at every turn, so that a script can be edited while its session is open. */
export async function openScriptAgent(file: ScriptFile, session: AgentSession, clock: Clock): Promise<Agent> {
  const { isAsked } = file
  let capabilities = capabilitiesOf(await readScript(file))
  return {
    get capabilities() {
      return capabilities
    },
    commandsFor: async (tools) => commandsOfServers(tools),
    async run(turn) {
      const script = await readScript(file)
      const offered = capabilitiesOf(script)
      if (JSON.stringify(offered) !== JSON.stringify(capabilities)) {
        capabilities = offered
        await session.capabilitiesChanged()
      }
      return new Player(script.steps, turn, { clock, isAsked }).play()
    },
    close: async () => undefined,
  }
}

function capabilitiesOf({ offer }: Script): AgentCapabilities {
  const { modes = null, configOptions } = offer
  return { commands: [], settings: { modes, configOptions } }
}

/** Throws SCRIPT_UNREADABLE or SCRIPT_INVALID. */
export async function readScript({ path, isAsked }: ScriptFile): Promise<Script> {
  return parseScript(path, await textOf(path), isAsked ? assertUnprivileged : undefined)
}

async function textOf(path: string): Promise<string> {
  try {
    const file = await stat(path)
    if (!file.isFile()) throw new Error('it is not a file')
    if (file.size > MAX_SCRIPT_BYTES) throw new Error('it is longer than 16 MiB')
    // A short read of a local file, of which a promise would make four calls of other threads.
    return readFileSync(path, 'utf8')
  } catch (error) {
    return fail('SCRIPT_UNREADABLE', { path, reason: fileReasonOf(error) }, error)
  }
}

/**
 * The kinds of prompt content that the agent of a script takes. Reads only the beginning of the file, and synchronously: a
 * client that initializes waits for it. Text and links if the script does not say or cannot be read; the next turn says why.
 */
export function acceptedBy(path: string): PromptKinds {
  try {
    const [first] = numberedLines(beginningOf(path))
    return (first === undefined ? undefined : offerIn(first.line)?.accepts) ?? NO_OFFER.accepts
  } catch {
    return NO_OFFER.accepts
  }
}

function beginningOf(path: string): string {
  // Reading a pipe would wait, and take away what a later read needs.
  if (!statSync(path).isFile()) return ''
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(MAX_OFFER_BYTES)
    return bytes.toString('utf8', 0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}

/** Where a turn continues after a restart: after the step that asked. */
interface Bookmark {
  readonly step: number
}

interface Playing {
  readonly clock: Clock
  /** As `ScriptFile` has it. */
  readonly isAsked: boolean
}

interface Calling extends Bookmark {
  readonly permission: ToolRequest['permission']
  /** It continues where it stood before a restart. */
  readonly hasBegun?: boolean
}

class Player {
  readonly #steps: readonly ScriptStep[]
  readonly #turn: Turn
  readonly #clock: Clock
  readonly #isAsked: boolean
  readonly #reported = new Set<string>()

  constructor(steps: readonly ScriptStep[], turn: Turn, { clock, isAsked }: Playing) {
    this.#steps = steps
    this.#turn = turn
    this.#clock = clock
    this.#isAsked = isAsked
  }

  async play(): Promise<StopReason> {
    const from = await this.#resume()
    if (from === 0) await this.#showPrompt()
    for (const [index, step] of this.#steps.entries()) {
      if (index < from) continue
      if (this.#turn.signal.aborted) return 'cancelled'
      const end = await this.#step(step, index)
      if (end !== undefined) return end
    }
    return this.#turn.signal.aborted ? 'cancelled' : 'end_turn'
  }

  /** If the user typed a prompt of an MCP server, it is shown before the script plays. */
  async #showPrompt(): Promise<void> {
    const typed = typedIn(this.#turn.prompt)
    const filled = typed === undefined ? undefined : await filledPrompt(this.#turn, typed)
    if (filled !== undefined) await showPrompt(this.#turn, filled)
  }

  /** After a restart, applies the answer to the step that asked; the next step follows. */
  async #resume(): Promise<number> {
    const { resumed } = this.#turn
    if (resumed === undefined) return 0
    const [call] = resumed.calls
    if (call === undefined) return 0
    const { step } = call.state as Bookmark
    const asked = this.#steps[step]
    if (asked?.kind === 'permission') await this.#answered(asked.permission, step, call)
    if (asked?.kind === 'call') await this.#answered(asked, step, call)
    return step + 1
  }

  async #step(step: ScriptStep, index: number): Promise<StopReason | undefined> {
    const turn = this.#turn
    switch (step.kind) {
      case 'chunk':
        return this.#chunks(step)
      case 'content':
        await turn.say(step.content)
        return undefined
      case 'thought':
        await turn.think({ type: 'text', text: step.text })
        return undefined
      case 'call':
        await this.#call(step.call, this.#idOf(step.call.toolCallId), {
          step: index,
          permission: step.call.isAsked || this.#isAsked ? 'policy' : 'granted',
        })
        return undefined
      case 'report':
        await this.#report(step)
        return undefined
      case 'plan':
        await turn.plan(step.entries)
        return undefined
      case 'permission':
        await this.#ask(step.permission, index)
        return undefined
      case 'client':
        await this.#askClient(step.request)
        return undefined
      case 'sleep':
        return this.#pause(step.ms)
      case 'fail':
        return fail('AGENT_FAILED', { reason: step.reason })
      case 'end':
        return step.stopReason
      default:
        await this.#sessionStep(step)
        return undefined
    }
  }

  /** Files and terminals of the client need no permission, so only scripts that the user named may use them. */
  async #askClient(request: ScriptedRequest): Promise<void> {
    if (!this.#isAsked || isForPerson(request)) return new ClientPlayer(this.#turn, this.#clock).play(request)
    const text = `(${request.kind} is only done for a script that --agent or PARLEY_AGENT names)`
    await this.#turn.say({ type: 'text', text })
  }

  #sessionStep(step: SessionStep): Promise<void> {
    const turn = this.#turn
    switch (step.kind) {
      case 'mode':
        return turn.setMode(step.modeId)
      case 'config':
        return turn.setConfigOption(step.configId, step.value)
      case 'usage':
        return turn.usage(step.usage)
      case 'title':
        return turn.title(step.title)
      case 'commands':
        return turn.offerCommands(step.commands)
      case 'notice':
        return turn.notify(step.notice)
      case 'compaction':
        return turn.compact(this.#idOf(step.compactionId), step.patch)
      case 'summary':
        return turn.summarize(this.#idOf(step.compactionId), step.content)
    }
  }

  async #chunks({ text, times, everyMs }: ScriptStep & { readonly kind: 'chunk' }): Promise<StopReason | undefined> {
    for (let number = 1; number <= times; number += 1) {
      if (this.#turn.signal.aborted) return 'cancelled'
      await this.#turn.say({ type: 'text', text: this.#filled(text, number) })
      if (everyMs > 0 && (await this.#pause(everyMs)) !== undefined) return 'cancelled'
    }
    return undefined
  }

  /** `{n}` is the number of the repetition, `{mode}` and `{config.ID}` how the agent is set now. */
  #filled(text: string, number: number): string {
    const { modes, configOptions } = this.#turn.settings
    const values = configOptions.map(({ id, currentValue }) => [`{config.${id}}`, String(currentValue)] as const)
    const mode = modes === null ? [] : [['{mode}', modes.currentModeId] as const]
    return [['{n}', String(number)] as const, ...mode, ...values].reduce(
      (filled, [word, value]) => filled.replaceAll(word, () => value),
      text,
    )
  }

  /** The first report of a call without a status is of a completed call. */
  async #report({ toolCallId, patch }: ScriptStep & { readonly kind: 'report' }): Promise<void> {
    const id = this.#idOf(toolCallId)
    const isNew = !this.#reported.has(id)
    this.#reported.add(id)
    await this.#turn.report(id, isNew ? { status: 'completed', ...patch } : patch)
  }

  async #pause(ms: number): Promise<'cancelled' | undefined> {
    try {
      await this.#clock.sleep(ms, this.#turn.signal)
      return undefined
    } catch {
      // Only the signal of the turn ends the sleep early.
      return 'cancelled'
    }
  }

  async #call(
    { name, args }: ScriptedCall,
    id: string,
    { step, permission, hasBegun = false }: Calling,
  ): Promise<void> {
    if (!this.#isSettledFor(name)) await this.#connected(name, hasBegun ? undefined : id)
    const resume: Bookmark = { step }
    await this.#turn.call({ name: this.#registryName(name), args, permission, toolCallId: id, resume })
  }

  /** Waits for the servers that may have the tool, and reports the call as pending meanwhile. */
  async #connected(name: string, id: string | undefined): Promise<void> {
    const until = this.#clock.monotonicNow() + TOOLS_TIMEOUT_MS
    if (id !== undefined) await this.#turn.report(id, { title: name, status: 'pending' })
    await this.#settled(name)
    const left = until - this.#clock.monotonicNow()
    // Failed servers are connected again only for a tool that no other server has.
    if (left > 0 && !this.#has(this.#registryName(name))) await this.#turn.tools.ready(left, this.#turn.signal)
  }

  /** A server that is still connecting may have another tool of that name, unless the name says whose it is. */
  #isSettledFor(name: string): boolean {
    return this.#has(name) || (this.#noneConnects() && this.#has(this.#registryName(name)))
  }

  #noneConnects(): boolean {
    return this.#turn.tools.list().servers.every(({ state }) => state !== 'connecting')
  }

  /** Resolves when no server is connecting, when the limit is over, or when the turn is cancelled. */
  #settled(name: string): Promise<void> {
    const { tools, signal } = this.#turn
    const settled = (): boolean => this.#noneConnects() || this.#has(name)
    if (settled() || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        stop()
        timer.cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const stop = tools.onChange(() => settled() && done())
      const timer = this.#clock.setTimer(TOOLS_TIMEOUT_MS, done)
      signal.addEventListener('abort', done, { once: true })
    })
  }

  #has(name: string): boolean {
    return this.#turn.tools.list().tools.some((tool) => tool.name === name)
  }

  /** A script may use the server's name of a tool if only one tool has that name. */
  #registryName(name: string): string {
    if (this.#has(name)) return name
    const { tools } = this.#turn.tools.list()
    const [only, another] = tools.filter((tool) => tool.serverToolName === name)
    return only !== undefined && another === undefined ? only.name : name
  }

  async #ask(permission: Permission, step: number): Promise<void> {
    const toolCallId = this.#idOf(permission.toolCallId)
    const { options } = permission
    const patch = { ...permission.patch, status: 'pending' } as const
    const state: Bookmark = { step }
    const outcome = await this.#turn.ask({ toolCallId, patch, options, state })
    if (!this.#turn.signal.aborted) await this.#answered(permission, step, { toolCallId, state, outcome })
  }

  async #answered({ call }: Pick<Permission, 'call'>, step: number, asked: ResumedCall): Promise<void> {
    const { toolCallId, outcome } = asked
    if (!mayContinue(asked)) return this.#turn.report(toolCallId, { status: 'failed' })
    const hasBegun = outcome.outcome === 'begun'
    if (call !== undefined)
      return this.#call(call, toolCallId, { step, permission: this.#permissionOf(asked), hasBegun })
    await this.#turn.report(toolCallId, { status: 'in_progress' })
    await this.#turn.report(toolCallId, { status: 'completed' })
  }

  /** A script that a file named may ask one thing and call another: its call needs a permission of its own. */
  #permissionOf({ outcome, state }: ResumedCall): ToolRequest['permission'] {
    const isOwnQuestion = this.#steps[(state as Bookmark).step]?.kind === 'permission'
    return this.#isAsked && isOwnQuestion && outcome.outcome !== 'begun' ? 'policy' : 'granted'
  }

  /** Unique in the session, although the script is played again for every prompt. */
  #idOf(toolCallId: string | undefined): string {
    if (toolCallId === undefined) return this.#turn.newToolCallId()
    return this.#turn.turnId === 't1' ? toolCallId : `${toolCallId}-${this.#turn.turnId}`
  }
}
