/** The terminals that a turn has at its client: each is a tool call, and each is released, however the turn ends. */
import { fail } from '../errors/parley-error.ts'
import type {
  LentClient,
  LentTerminal,
  Terminal,
  TerminalCommand,
  TerminalExit,
  TerminalOutput,
} from '../ports/client.ts'
import type { ToolCallContent, ToolStatus } from '../ports/content.ts'
import type { AbortSource, Signal } from '../ports/signal.ts'
import { type ClientWorkHost, NO_HURRY, bounded, sentenceOf, words } from './client-work.ts'
import { placeInside } from './root-set.ts'

const CREATE = 'terminal/create'

export class Terminals {
  readonly #host: ClientWorkHost
  readonly #open = new Set<TurnTerminal>()
  readonly #cancelled = () => this.close('Cancelled.')
  #isClosed = false

  constructor(host: ClientWorkHost) {
    this.#host = host
    // What nobody may use any more is let go at once, however long the agent takes to notice.
    host.signal.addEventListener('abort', this.#cancelled, { once: true })
  }

  async create(command: TerminalCommand, client: LentClient): Promise<Terminal> {
    const { roots } = this.#host
    const wanted = { ...command, cwd: placeInside(command.cwd ?? roots[0] ?? '/', roots) }
    const toolCallId = this.#host.newToolCallId()
    await this.#begin(toolCallId, wanted)
    try {
      const terminal = new TurnTerminal(await this.#lent(wanted, client), toolCallId, this.#host)
      await this.#show(terminal, client)
      return terminal
    } catch (error) {
      await this.#host.report(toolCallId, { status: 'failed', content: [words(sentenceOf(error))] })
      throw error
    }
  }

  /** Releases what is open, and says why in its tool call. Idempotent. */
  close(why: string): void {
    this.#isClosed = true
    this.#host.signal.removeEventListener('abort', this.#cancelled)
    for (const terminal of this.#open) terminal.end(why)
  }

  /** The environment stays out of it: it may hold secrets. */
  async #begin(toolCallId: string, { env: _secret, ...rawInput }: TerminalCommand): Promise<void> {
    const title = [rawInput.command, ...(rawInput.args ?? [])].join(' ')
    const patch = { title, kind: 'execute', rawInput, status: 'in_progress' } as const
    const begun = await this.#host.store(toolCallId, patch)
    if (!begun) fail('CLIENT_CANCELLED', { method: CREATE })
  }

  async #lent(command: TerminalCommand, client: LentClient): Promise<LentTerminal> {
    const { createTerminal } = client
    if (this.#isClosed || createTerminal === undefined) return fail('CLIENT_CANCELLED', { method: CREATE })
    const placed = { ...command, roots: this.#host.roots }
    const lent = await bounded({ method: CREATE }, this.#host, (signal) => createTerminal(placed, signal))
    if (!this.#isClosed) return lent
    lent.release()
    return fail('CLIENT_CANCELLED', { method: CREATE })
  }

  /** Told before anything is done with it, so that it is seen before it is released. */
  async #show(terminal: TurnTerminal, { gone }: LentClient): Promise<void> {
    this.#open.add(terminal)
    const left = () => terminal.end('The terminal ended with its client.')
    terminal.whenOver(() => {
      this.#open.delete(terminal)
      gone.removeEventListener('abort', left)
    })
    await this.#host.store(terminal.toolCallId, { content: [{ type: 'terminal', terminalId: terminal.id }] })
    gone.addEventListener('abort', left, { once: true })
    if (gone.aborted) left()
  }
}

class TurnTerminal implements Terminal {
  readonly id: string
  readonly toolCallId: string
  readonly #lent: LentTerminal
  readonly #host: ClientWorkHost
  #isOver = false
  #isReleased = false
  #exit: TerminalExit | undefined
  #output: TerminalOutput | undefined
  #whenOver: () => void = () => {}
  /** Aborts when it is over: nobody waits for an answer about it any more. */
  readonly #end: AbortSource

  constructor(lent: LentTerminal, toolCallId: string, host: ClientWorkHost) {
    this.id = lent.id
    this.toolCallId = toolCallId
    this.#lent = lent
    this.#host = host
    this.#end = host.clock.abortSource()
  }

  whenOver(over: () => void): void {
    this.#whenOver = over
  }

  async output(): Promise<TerminalOutput> {
    const output = await this.#ask('terminal/output', (signal) => this.#lent.output(signal))
    this.#output = output
    this.#exit = output.exit ?? this.#exit
    return output
  }

  async waitForExit(): Promise<TerminalExit> {
    const exit = await this.#ask('terminal/wait_for_exit', (signal) => this.#lent.waitForExit(signal), NO_HURRY)
    this.#exit = exit
    return exit
  }

  kill(): Promise<void> {
    return this.#ask('terminal/kill', (signal) => this.#lent.kill(signal))
  }

  async release(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#isReleased = true
    try {
      await this.#host.store(this.toolCallId, { status: this.#status(), content: this.#content(), ...this.#raw() })
    } finally {
      this.#letGo()
    }
  }

  /** Its turn or its client goes: what is known of it stays, and why nothing follows. Idempotent. */
  end(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#letGo()
    const patch = { status: 'failed', content: [...this.#content(), words(why)], ...this.#raw() } as const
    // A turn that is over has ended its calls itself.
    this.#host.report(this.toolCallId, patch).catch(() => undefined)
  }

  #letGo(): void {
    this.#end.abort()
    this.#lent.release()
    this.#whenOver()
  }

  /** Once its turn is cancelled or its client has gone, the edge has the word for that. */
  async #ask<Result>(method: string, ask: (signal: Signal) => Promise<Result>, limit?: number): Promise<Result> {
    if (this.#isReleased) return fail('TERMINAL_RELEASED', { terminal: this.id })
    return bounded({ method, limit, signal: this.#end.signal }, this.#host, ask)
  }

  #status(): ToolStatus {
    return this.#exit?.exitCode === 0 ? 'completed' : 'failed'
  }

  #content(): readonly ToolCallContent[] {
    const output = this.#output === undefined ? {} : { output: this.#output.output }
    return [{ type: 'terminal', terminalId: this.id, ...output }]
  }

  #raw() {
    const { exitCode, signal } = this.#exit ?? {}
    const truncated = this.#output === undefined ? {} : { truncated: this.#output.truncated }
    return this.#exit === undefined ? {} : { rawOutput: { exitCode, signal, ...truncated } }
  }
}
