/** What the client whose prompt is running lends to its turn, as the agent of the turn has it. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { FileRange, FileText, ClientPeer, Terminal, TerminalCommand, TurnClient } from '../../ports/client.ts'
import type { ToolCallContent } from '../../ports/content.ts'
import type { PathAccessFilter } from '../../ports/bars.ts'
import { type AskingHost, runAsToolCall, withClientTimeout } from '../client-services/client-request.ts'
import { elicitThrough } from '../client-services/elicitations.ts'
import { resolveWithinRoots } from '../client-services/roots.ts'
import { Terminals } from '../client-services/terminals.ts'

const READ = 'read_text_file'
const WRITE = 'write_text_file'

/** A change that is longer is told without its text. Characters. */
const LONGEST_DIFF = 1024 * 1024
const CLOSED = 'The turn ended before this terminal was released.'

/** Looks anew, with every use, at which client there is and what it offers. */
export class TurnClientServices implements TurnClient {
  readonly #host: AskingHost
  #made: Terminals | undefined
  #isClosed = false

  constructor(host: AskingHost) {
    this.#host = host
  }

  get readTextFile(): TurnClient['readTextFile'] {
    const read = this.#lent?.readTextFile
    return read === undefined ? undefined : (file) => this.#read(file, read)
  }

  get writeTextFile(): TurnClient['writeTextFile'] {
    const write = this.#lent?.writeTextFile
    return write === undefined ? undefined : (file) => this.#write(file, write)
  }

  get terminals(): TurnClient['terminals'] {
    const lent = this.#lent
    if (lent?.createTerminal === undefined) return undefined
    return { create: (command: TerminalCommand): Promise<Terminal> => this.#terminals.create(command, lent) }
  }

  get elicit(): TurnClient['elicit'] {
    const lent = this.#lent
    return lent === undefined ? undefined : elicitThrough(lent, this.#host)
  }

  /** The turn or the call is over: nothing of it stays with the client. */
  close(): void {
    this.#isClosed = true
    this.#made?.close(CLOSED)
  }

  /** Most calls have no terminal, and there are many calls. */
  get #terminals(): Terminals {
    if (this.#made === undefined) {
      this.#made = new Terminals(this.#host)
      if (this.#isClosed) this.#made.close(CLOSED)
    }
    return this.#made
  }

  get #lent(): ClientPeer | undefined {
    return this.#host.lent()
  }

  async #read(file: FileRange, read: NonNullable<ClientPeer['readTextFile']>): Promise<string> {
    const { roots } = this.#host
    const place = { ...file, path: resolveWithinRoots(file.path, roots) }
    const bars = await this.#barsFor(place.path)
    requireLine('line', file.line)
    requireLine('limit', file.limit)
    const { path, line } = place
    const work = {
      method: READ,
      toolCallId: this.#host.newToolCallId(),
      patch: {
        title: `Read ${path}`,
        kind: 'read' as const,
        locations: [{ path, ...(line === undefined ? {} : { line }) }],
        rawInput: place,
      },
      effect: async () => {
        const result = await withClientTimeout({ method: READ }, this.#host, (signal) =>
          read({ ...place, roots, bars }, signal),
        )
        return { result, patch: { status: 'completed' as const } }
      },
    }
    return runAsToolCall(work, this.#host)
  }

  async #write({ path: given, content }: FileText, write: NonNullable<ClientPeer['writeTextFile']>): Promise<void> {
    const { roots } = this.#host
    const path = resolveWithinRoots(given, roots)
    const bars = await this.#barsFor(path)
    const work = {
      method: WRITE,
      toolCallId: this.#host.newToolCallId(),
      patch: { title: `Write ${path}`, kind: 'edit' as const, locations: [{ path }], rawInput: { path } },
      effect: async () => {
        const before = await this.#contentOf(path, bars)
        await withClientTimeout({ method: WRITE }, this.#host, (signal) =>
          write({ path, content, roots, bars }, signal),
        )
        return { result: undefined, patch: { status: 'completed' as const, content: change(path, before, content) } }
      },
    }
    return runAsToolCall(work, this.#host)
  }

  /** Throws PATH_NOT_ALLOWED, by the words of the path; where links lead, the edge knows. */
  async #barsFor(path: string): Promise<PathAccessFilter> {
    const bars = await this.#host.bars()
    if (bars(path) !== undefined) fail('PATH_NOT_ALLOWED', { path })
    return bars
  }

  /** For the difference that people are shown; null for a file that cannot be read or is not there. */
  async #contentOf(path: string, bars: PathAccessFilter): Promise<string | null> {
    const read = this.#lent?.readTextFile
    if (read === undefined) return null
    const { roots } = this.#host
    try {
      return await withClientTimeout({ method: READ }, this.#host, (signal) => read({ path, roots, bars }, signal))
    } catch (error) {
      // Nothing is written for a turn that is cancelled, or to a client that has left.
      if (isParleyError(error, 'CLIENT_REFUSED') || isParleyError(error, 'CLIENT_ANSWER_INVALID')) return null
      throw error
    }
  }
}

function change(path: string, oldText: string | null, newText: string): readonly ToolCallContent[] {
  if ((oldText?.length ?? 0) + newText.length <= LONGEST_DIFF) return [{ type: 'diff', path, oldText, newText }]
  const text = `${newText.length} characters were written; that is too long to show.`
  return [{ type: 'content', content: { type: 'text', text } }]
}

function requireLine(what: string, value: number | undefined): void {
  if (value !== undefined && (!Number.isInteger(value) || value < 1)) fail('LINE_INVALID', { what, value })
}
