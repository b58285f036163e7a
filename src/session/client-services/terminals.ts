/** The terminals that a turn has at its client: each is stored as a tool call, and each is released, however the turn ends. */
import { fail } from '../../errors/parley-error.ts'
import type {
  ClientPeer,
  ClientTerminal,
  Terminal,
  TerminalCommand,
  TerminalExit,
  TerminalOutput,
} from '../../ports/client-peer.ts'
import type { ToolCallContent, ToolStatus } from '../../ports/values/content.ts'
import type { AbortSource, Signal } from '../../ports/values/signal.ts'
import { type ClientUser, ONE_DAY_MS, withClientTimeout, sentenceOf, textContent } from './client-request.ts'
import { resolveWithinRoots } from './roots.ts'

const CREATE = 'create_terminal'

export class Terminals {
  readonly #user: ClientUser
  readonly #open = new Set<TurnTerminal>()
  readonly #cancelled = () => this.close('Cancelled.')
  #isClosed = false

  constructor(user: ClientUser) {
    this.#user = user
    // Terminals of a cancelled turn are released at once; the agent may need seconds to stop.
    user.signal.addEventListener('abort', this.#cancelled, { once: true })
  }

  async create(command: TerminalCommand, client: ClientPeer): Promise<Terminal> {
    const { roots } = this.#user
    const wanted = { ...command, cwd: resolveWithinRoots(command.cwd ?? roots[0] ?? '/', roots) }
    const toolCallId = this.#user.newToolCallId()
    await this.#begin(toolCallId, wanted)
    try {
      const terminal = new TurnTerminal(await this.#createAt(client, wanted), toolCallId, this.#user)
      await this.#show(terminal, client)
      return terminal
    } catch (error) {
      await this.#user.report(toolCallId, { status: 'failed', content: [textContent(sentenceOf(error))] })
      throw error
    }
  }

  /** Releases the open terminals; the tool call of each says why. Idempotent. */
  close(why: string): void {
    this.#isClosed = true
    this.#user.signal.removeEventListener('abort', this.#cancelled)
    for (const terminal of this.#open) terminal.end(why)
  }

  /** Without the environment, which may hold secrets. */
  async #begin(toolCallId: string, { env: _secret, ...rawInput }: TerminalCommand): Promise<void> {
    const title = [rawInput.command, ...(rawInput.args ?? [])].join(' ')
    const patch = { title, kind: 'execute', rawInput, status: 'in_progress' } as const
    const begun = await this.#user.store({ kind: 'call', toolCallId, patch })
    if (!begun) fail('CLIENT_CANCELLED', { method: CREATE })
  }

  async #createAt(client: ClientPeer, command: TerminalCommand): Promise<ClientTerminal> {
    const { createTerminal } = client
    if (this.#isClosed || createTerminal === undefined) return fail('CLIENT_CANCELLED', { method: CREATE })
    const placed = { ...command, roots: this.#user.roots }
    const terminal = await withClientTimeout({ method: CREATE }, this.#user, (signal) => createTerminal(placed, signal))
    if (!this.#isClosed) return terminal
    terminal.release()
    return fail('CLIENT_CANCELLED', { method: CREATE })
  }

  /** Stored before the agent gets the terminal, so that clients see it before it is released. */
  async #show(terminal: TurnTerminal, { gone }: ClientPeer): Promise<void> {
    this.#open.add(terminal)
    const left = () => terminal.end('The terminal ended with its client.')
    terminal.whenOver(() => {
      this.#open.delete(terminal)
      gone.removeEventListener('abort', left)
    })
    await this.#user.store({
      kind: 'call',
      toolCallId: terminal.toolCallId,
      patch: { content: [{ type: 'terminal', terminalId: terminal.id }] },
    })
    gone.addEventListener('abort', left, { once: true })
    if (gone.aborted) left()
  }
}

class TurnTerminal implements Terminal {
  readonly id: string
  readonly toolCallId: string
  readonly #terminal: ClientTerminal
  readonly #user: ClientUser
  #isOver = false
  #isReleased = false
  #exit: TerminalExit | undefined
  #output: TerminalOutput | undefined
  #whenOver: () => void = () => {}
  /** Aborted when the terminal is over; requests about it end then. */
  readonly #end: AbortSource

  constructor(terminal: ClientTerminal, toolCallId: string, user: ClientUser) {
    this.id = terminal.id
    this.toolCallId = toolCallId
    this.#terminal = terminal
    this.#user = user
    this.#end = user.ports.clock.abortSource()
  }

  whenOver(over: () => void): void {
    this.#whenOver = over
  }

  async output(): Promise<TerminalOutput> {
    const output = await this.#ask('terminal_output', (signal) => this.#terminal.output(signal))
    this.#output = output
    this.#exit = output.exit ?? this.#exit
    return output
  }

  async waitForExit(): Promise<TerminalExit> {
    const exit = await this.#ask('wait_for_terminal_exit', (signal) => this.#terminal.waitForExit(signal), ONE_DAY_MS)
    this.#exit = exit
    return exit
  }

  kill(): Promise<void> {
    return this.#ask('kill_terminal', (signal) => this.#terminal.kill(signal))
  }

  async release(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    this.#isReleased = true
    try {
      await this.#user.store({
        kind: 'call',
        toolCallId: this.toolCallId,
        patch: { status: this.#status(), content: this.#content(), ...this.#raw() },
      })
    } finally {
      this.#free()
    }
  }

  /** The turn ends or the client leaves: the tool call keeps the output that is known, and says why no more follows. Idempotent. */
  end(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#free()
    const patch = { status: 'failed', content: [...this.#content(), textContent(why)], ...this.#raw() } as const
    // A turn that is over has ended its calls itself.
    this.#user.report(this.toolCallId, patch).catch(() => undefined)
  }

  #free(): void {
    this.#end.abort()
    this.#terminal.release()
    this.#whenOver()
  }

  /** After a cancel, or when the client has left, the client peer rejects with the right error. */
  async #ask<Result>(method: string, ask: (signal: Signal) => Promise<Result>, timeoutMs?: number): Promise<Result> {
    if (this.#isReleased) return fail('TERMINAL_RELEASED', { terminal: this.id })
    return withClientTimeout({ method, timeoutMs, signal: this.#end.signal }, this.#user, ask)
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
