/** A client's files, terminals and person as ACP v1 asks for them, for the turns of its own prompts. */
import type {
  FileRange,
  FileText,
  FormRequest,
  LentClient,
  LentTerminal,
  LentUrlRequest,
  Placed,
  PlacedFile,
  RawFormAnswer,
  TerminalCommand,
  UrlAnswer,
} from '../../../ports/client.ts'
import type { Signal } from '../../../ports/signal.ts'
import type { Wire } from '../../transport/wire.ts'
import type { Outbox } from '../outbox.ts'
import { Calls } from './calls.ts'
import { fileText, formAnswer, terminalExit, terminalId, terminalOutput } from './client-answers.ts'
import type { Offers } from './offers.ts'
import { requireAllowed, requireReallyInside } from './real-place.ts'

export interface LendingSide {
  readonly wire: Wire
  readonly outbox: Outbox
  readonly offers: Offers
}

/** What one connection lends, session by session; opening a session again goes on with what is open. */
export class Lending {
  readonly #side: LendingSide
  readonly #sessions = new Map<string, Lent>()

  constructor(side: LendingSide) {
    this.#side = side
  }

  of(sessionId: string): Lent {
    const lent = this.#sessions.get(sessionId) ?? new Lent(sessionId, this.#side)
    this.#sessions.set(sessionId, lent)
    return lent
  }

  /** The client has left this session, or all of them with its connection. */
  leave(sessionId?: string): void {
    for (const [id, { calls }] of this.#sessions) {
      if (sessionId !== undefined && id !== sessionId) continue
      this.#sessions.delete(id)
      calls.leave()
    }
  }
}

export class Lent implements LentClient {
  readonly calls: Calls
  readonly readTextFile?: NonNullable<LentClient['readTextFile']>
  readonly writeTextFile?: NonNullable<LentClient['writeTextFile']>
  readonly createTerminal?: NonNullable<LentClient['createTerminal']>
  readonly form?: NonNullable<LentClient['form']>
  readonly url?: NonNullable<LentClient['url']>
  readonly #sessionId: string
  /** Those that it made for this session: nobody else can show them. */
  readonly #terminals = new Set<string>()

  constructor(sessionId: string, { wire, outbox, offers }: LendingSide) {
    this.#sessionId = sessionId
    this.calls = new Calls(outbox, (lines) => wire.send(lines))
    if (offers.readTextFile) this.readTextFile = (file, signal) => this.#read(file, signal)
    if (offers.writeTextFile) this.writeTextFile = (file, signal) => this.#write(file, signal)
    if (offers.terminal) this.createTerminal = (command, signal) => this.#create(command, signal)
    if (offers.form) this.form = (request, signal) => this.#form(request, signal)
    if (offers.url) this.url = (request, signal) => this.#url(request, signal)
  }

  get gone(): Signal {
    return this.calls.gone
  }

  hasTerminal(id: string): boolean {
    return this.#terminals.has(id)
  }

  async #read({ roots, bars, ...file }: PlacedFile<FileRange>, signal: Signal): Promise<string> {
    await requireAllowed(file.path, roots, bars)
    return fileText(await this.#ask('fs/read_text_file', file, signal))
  }

  async #write({ roots, bars, ...file }: PlacedFile<FileText>, signal: Signal): Promise<void> {
    await requireAllowed(file.path, roots, bars)
    await this.#ask('fs/write_text_file', file, signal)
  }

  async #create({ env = {}, roots, ...command }: Placed<TerminalCommand>, signal: Signal): Promise<LentTerminal> {
    if (command.cwd !== undefined) await requireReallyInside(command.cwd, roots)
    const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
    const call = {
      method: 'terminal/create',
      params: { sessionId: this.#sessionId, ...command, ...(variables.length === 0 ? {} : { env: variables }) },
      late: (result: unknown) => this.#releaseLate(result),
    }
    const id = terminalId(await this.calls.ask(call, signal))
    this.#terminals.add(id)
    return this.#terminal(id)
  }

  #terminal(id: string): LentTerminal {
    const about = { terminalId: id }
    let isReleased = false
    return {
      id,
      output: async (signal) => terminalOutput(await this.#ask('terminal/output', about, signal)),
      waitForExit: async (signal) => terminalExit(await this.#ask('terminal/wait_for_exit', about, signal)),
      kill: async (signal) => void (await this.#ask('terminal/kill', about, signal)),
      release: () => {
        if (!isReleased) this.#release(id)
        isReleased = true
      },
    }
  }

  #release(id: string): void {
    this.calls.request('terminal/release', { sessionId: this.#sessionId, terminalId: id })
  }

  /** Nobody waits for it any more, so nobody else lets go of it. */
  #releaseLate(result: unknown): void {
    const id = (result as { readonly terminalId?: unknown } | null | undefined)?.terminalId
    if (typeof id === 'string' && id !== '') this.#release(id)
  }

  async #form({ message, schema, toolCallId }: FormRequest, signal: Signal): Promise<RawFormAnswer> {
    const asked = { mode: 'form', message, requestedSchema: schema, ...named(toolCallId) }
    return formAnswer(await this.#ask('elicitation/create', asked, signal))
  }

  /** What came back besides the action is nobody's business. */
  async #url({ message, url, elicitationId, toolCallId }: LentUrlRequest, signal: Signal): Promise<UrlAnswer> {
    const asked = { mode: 'url', message, url, elicitationId, ...named(toolCallId) }
    const { action } = formAnswer(await this.#ask('elicitation/create', asked, signal))
    let isComplete = action !== 'accept'
    return {
      action,
      complete: () => {
        if (!isComplete) this.calls.notify('elicitation/complete', { elicitationId })
        isComplete = true
      },
    }
  }

  #ask(method: string, params: object, signal: Signal): Promise<unknown> {
    return this.calls.ask({ method, params: { sessionId: this.#sessionId, ...params } }, signal)
  }
}

function named(toolCallId: string | undefined): { readonly toolCallId?: string } {
  return toolCallId === undefined ? {} : { toolCallId }
}
