/** One running agent: its process, the conversation with it over JSON-RPC, and what it said of itself in `initialize`. */
import { unlessAborted } from '../../../../async/abort.ts'
import { fail, isParleyError, reasonOf } from '../../../../errors/parley-error.ts'
import type { Clock } from '../../../../ports/clock.ts'
import type { Child, ProcessExit, ProcessUsage, Processes } from '../../../../ports/process.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { fieldsOf } from '../../../../rpc/json-rpc.ts'
import type { AgentLaunch } from '../launch.ts'
import type { Quirks } from '../quirks.ts'
import { AgentPeer, MAX_LINE_BYTES, type PeerListener } from './peer.ts'
import { Secrets } from './mask-secrets.ts'
import { StderrLog } from './stderr-log.ts'
import { WireError } from './wire-error.ts'

/** For the last output of a dead agent, when a process that left its group holds the pipe open. */
const DRAIN_MS = 200
/** How often silence is looked for. */
const SILENCE_STEP_MS = 1_000
const EOF_MS = 1_000
const TERM_MS = 2_000
/** Lines of stderr in an error. */
const LINES_IN_ERROR = 3

export interface AgentProcessParts {
  readonly processes: Processes
  readonly clock: Clock
  /** The directory of the logs of agents; absent, their stderr is not kept on disk. */
  readonly logDirectory?: string | undefined
}

export interface AgentStart {
  readonly launch: AgentLaunch
  readonly sessionId: string
  readonly cwd: string
  readonly listener: PeerListener
  readonly signal: Signal
  /** What its user reads if it does not start. */
  readonly advice?: string
}

/** What the agent said of itself. */
export interface AgentInfo {
  readonly agentName: string
  readonly version: string
  readonly protocol: number
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly authMethods: readonly unknown[]
}

export class AgentProcess {
  readonly launch: AgentLaunch
  readonly peer: AgentPeer
  readonly secrets: Secrets
  /** Ends the sentence of an error in its start; empty, or begins with a space. */
  readonly advice: string
  /** Resolves with why it ended, once all that it wrote was handled. */
  readonly ended: Promise<string>
  readonly #child: Child
  readonly #clock: Clock
  readonly #stderr: StderrLog
  #end: string | undefined
  #isWanted = true
  #isGone = false

  private constructor(
    child: Child,
    { launch, listener, advice = '' }: AgentStart,
    parts: AgentProcessParts & { readonly stderr: StderrLog; readonly secrets: Secrets },
  ) {
    this.launch = launch
    this.advice = advice
    this.secrets = parts.secrets
    this.#child = child
    this.#clock = parts.clock
    this.#stderr = parts.stderr
    this.peer = new AgentPeer(child, listener, parts.clock)
    this.ended = this.#run()
  }

  /** Throws what keeps the program from being started. */
  static async start(start: AgentStart, parts: AgentProcessParts): Promise<AgentProcess> {
    const { launch, sessionId, cwd, signal } = start
    const log = parts.logDirectory && `${parts.logDirectory}/${launch.name}-${sessionId}.log`
    const secrets = new Secrets(launch.env)
    const stderr = new StderrLog(log, (text) => secrets.mask(text))
    const spec = {
      command: launch.program,
      args: launch.args,
      cwd,
      env: launch.env,
      isWholeEnvironment: true,
      onStderr: (bytes: Uint8Array) => stderr.add(bytes),
    } as const
    const child = await parts.processes.spawn(spec, signal)
    return new AgentProcess(child, start, { ...parts, stderr, secrets })
  }

  mask(text: string): string {
    return this.secrets.mask(text)
  }

  get pid(): number {
    return this.#child.pid
  }

  /** Not all that it wrote may have been read yet. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** It is gone, or is being ended: nothing may be asked of it any more. */
  get isEnding(): boolean {
    return this.#isGone || !this.#isWanted
  }

  /** Why it ended; undefined while it runs. */
  get end(): string | undefined {
    return this.#end
  }

  usage(): Promise<ProcessUsage | undefined> {
    return this.#child.usage()
  }

  /** The end of its stderr, as half a sentence; empty if it wrote nothing. */
  get said(): string {
    return this.#lastWords()
  }

  note(line: string): void {
    this.#stderr.note(`parley: ${line}`)
  }

  /** The first request. Throws AGENT_PROTOCOL, AGENT_STUCK and AGENT_START_FAILED. */
  async initialize(params: object, wanted: number, signal: Signal): Promise<AgentInfo> {
    const result = fieldsOf(await this.ask('initialize', params, { silenceMs: this.launch.quirks.initMs, signal }))
    const { protocolVersion, agentCapabilities, agentInfo, authMethods } = result
    if (protocolVersion !== wanted) {
      const found = typeof protocolVersion === 'number' ? `version ${protocolVersion}` : 'no version number'
      fail('AGENT_PROTOCOL', { agent: this.launch.name, found, wanted })
    }
    const { name, version } = fieldsOf(agentInfo)
    return {
      agentName: typeof name === 'string' ? name : '',
      version: typeof version === 'string' ? version : (this.launch.version ?? ''),
      protocol: wanted,
      capabilities: fieldsOf(agentCapabilities),
      authMethods: Array.isArray(authMethods) ? authMethods : [],
    }
  }

  /**
   * A request of the start: given up when the agent says nothing for long, when it ends, and when `signal` aborts. Throws
   * WireError, AGENT_STUCK and AGENT_START_FAILED, and the signal's reason.
   */
  async ask(method: string, params: unknown, { silenceMs, signal }: Patience): Promise<unknown> {
    const over = this.#clock.abortSource()
    try {
      const settled = Promise.race([
        this.#asked(method, params),
        this.#silence(method, silenceMs, over.signal),
        this.ended.then((reason) => this.failed(method, reason)),
      ])
      return await unlessAborted(settled, signal, () => new Error('it was cancelled'))
    } finally {
      over.abort()
    }
  }

  /** Throws AGENT_START_FAILED. */
  failed(step: string, reason: string, cause?: unknown): never {
    return fail('AGENT_START_FAILED', { agent: this.launch.name, step, reason, advice: this.advice }, cause)
  }

  /** Ends it as its row says; idempotent. Resolves when no process of it is left. */
  async stop(how: Quirks['stopWith'] = this.launch.quirks.stopWith): Promise<void> {
    this.#isWanted = false
    if (how === 'kill') await this.#child.stop(0, 0)
    else await this.#child.stop(TERM_MS, how === 'term' ? 0 : EOF_MS)
    await this.ended
  }

  async #asked(method: string, params: unknown): Promise<unknown> {
    try {
      return await this.peer.request(method, params)
    } catch (error) {
      if (!isParleyError(error, 'PROCESS_GONE')) throw error
      return this.failed(method, await this.ended, error)
    }
  }

  async #silence(method: string, ms: number, over: Signal): Promise<never> {
    let heard = this.peer.heard
    let since = this.#clock.monotonicNow()
    while (!over.aborted) {
      await this.#clock.sleep(Math.min(ms, SILENCE_STEP_MS), over).catch(() => undefined)
      if (this.peer.heard !== heard) {
        heard = this.peer.heard
        since = this.#clock.monotonicNow()
      } else if (!over.aborted && this.#clock.monotonicNow() - since >= ms) {
        const [said, seconds] = [this.#lastWords(), Math.round(ms / 1_000)]
        fail('AGENT_STUCK', { agent: this.launch.name, step: method, seconds, said, advice: this.advice })
      }
    }
    return new Promise(() => undefined)
  }

  async #run(): Promise<string> {
    const exited = this.#child.exited.then(async (exit) => {
      this.#isGone = true
      await this.#clock.sleep(DRAIN_MS)
      return exit
    })
    await Promise.race([this.peer.read().catch((error: unknown) => this.note(reasonOf(error))), exited])
    // An agent whose output has ended cannot answer any more, even if it still runs.
    if (this.#isWanted) void this.#child.stop(TERM_MS, this.peer.wroteTooLong ? 0 : EOF_MS)
    const exit = await this.#child.exited
    await this.#child.stderrRead
    this.peer.end()
    const reason = this.peer.wroteTooLong ? `it wrote a line longer than ${MAX_LINE_BYTES} bytes` : endWords(exit)
    this.#end = `${reason}${this.#lastWords()}`
    this.#stderr.close()
    return this.#end
  }

  /** The end of stderr usually contains the cause. */
  #lastWords(): string {
    const said = this.#stderr.last(LINES_IN_ERROR).replaceAll('\n', ' ')
    return said === '' ? '' : `; it wrote: ${said.slice(-600)}`
  }
}

interface Patience {
  readonly silenceMs: number
  readonly signal: Signal
}

function endWords({ code, signal }: ProcessExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`
}

/** The sentence of what the agent refused. */
export function refusalOf(error: unknown, process: AgentProcess): string {
  return process.mask(error instanceof WireError ? error.words : reasonOf(error))
}
