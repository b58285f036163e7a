/** The files, terminals and user of the client that sent a prompt, as the turn of that prompt or one of its tool calls uses them. */
import { fail, isParleyError } from '../../errors/parley-error.ts'
import type { FileRange, FileText, ClientPeer, Terminal, TerminalCommand, TurnClient } from '../../ports/client-peer.ts'
import type { ToolCallContent } from '../../ports/values/content.ts'
import type { PathAccessFilter } from '../../ports/values/path-access.ts'
import { type ClientUser, runAsToolCall, withClientTimeout } from './client-request.ts'
import { elicitThrough } from './elicitations.ts'
import { resolveWithinRoots } from './roots.ts'
import { Terminals } from './terminals.ts'

const READ = 'read_text_file'
const WRITE = 'write_text_file'

const OVER = 'The turn ended before this terminal was released.'

/** The diff of a longer change is not stored. */
const MAX_DIFF_CHARS = 1024 * 1024

/** Each use looks again which client there is, and what it provides: a client may leave, and another may adopt the prompt. */
export class TurnClientServices implements TurnClient {
  readonly #user: ClientUser
  #openTerminals: Terminals | undefined
  #isClosed = false

  constructor(user: ClientUser) {
    this.#user = user
  }

  get readTextFile(): TurnClient['readTextFile'] {
    const read = this.#user.peer?.readTextFile
    return read === undefined ? undefined : (file) => this.#read(file, read)
  }

  get writeTextFile(): TurnClient['writeTextFile'] {
    const write = this.#user.peer?.writeTextFile
    return write === undefined ? undefined : (file) => this.#write(file, write)
  }

  get terminals(): TurnClient['terminals'] {
    const { peer } = this.#user
    if (peer?.createTerminal === undefined) return undefined
    return { create: (command: TerminalCommand): Promise<Terminal> => this.#terminals.create(command, peer) }
  }

  get elicit(): TurnClient['elicit'] {
    const { peer } = this.#user
    return peer && elicitThrough(peer, this.#user)
  }

  /** The turn or the call is over: its terminals are released. */
  close(): void {
    this.#isClosed = true
    this.#openTerminals?.close(OVER)
  }

  get #terminals(): Terminals {
    this.#openTerminals ??= new Terminals(this.#user)
    if (this.#isClosed) this.#openTerminals.close(OVER)
    return this.#openTerminals
  }

  async #read(file: FileRange, read: NonNullable<ClientPeer['readTextFile']>): Promise<string> {
    const { roots } = this.#user
    const place = { ...file, path: resolveWithinRoots(file.path, roots) }
    const access = await this.#accessTo(place.path)
    requireLine('line', file.line)
    requireLine('limit', file.limit)
    const { path, line } = place
    const work = {
      method: READ,
      toolCallId: this.#user.newToolCallId(),
      patch: {
        title: `Read ${path}`,
        kind: 'read' as const,
        locations: [{ path, ...(line === undefined ? {} : { line }) }],
        rawInput: place,
      },
      effect: async () => {
        const result = await withClientTimeout({ method: READ }, this.#user, (signal) =>
          read({ ...place, roots, pathAccess: access }, signal),
        )
        return { result, patch: { status: 'completed' as const } }
      },
    }
    return runAsToolCall(work, this.#user)
  }

  async #write({ path: given, content }: FileText, write: NonNullable<ClientPeer['writeTextFile']>): Promise<void> {
    const { roots } = this.#user
    const path = resolveWithinRoots(given, roots)
    const access = await this.#accessTo(path)
    const work = {
      method: WRITE,
      toolCallId: this.#user.newToolCallId(),
      patch: { title: `Write ${path}`, kind: 'edit' as const, locations: [{ path }], rawInput: { path } },
      effect: async () => {
        const before = await this.#contentOf(path, access)
        await withClientTimeout({ method: WRITE }, this.#user, (signal) =>
          write({ path, content, roots, pathAccess: access }, signal),
        )
        return { result: undefined, patch: { status: 'completed' as const, content: change(path, before, content) } }
      },
    }
    return runAsToolCall(work, this.#user)
  }

  /** Throws PATH_NOT_ALLOWED by the text of the path; the edge checks where links lead. */
  async #accessTo(path: string): Promise<PathAccessFilter> {
    const access = await this.#user.pathAccess()
    if (access(path) !== undefined) fail('PATH_NOT_ALLOWED', { path })
    return access
  }

  /** For the diff that clients show; null for a file that cannot be read or does not exist. */
  async #contentOf(path: string, access: PathAccessFilter): Promise<string | null> {
    const read = this.#user.peer?.readTextFile
    if (read === undefined) return null
    const { roots } = this.#user
    try {
      return await withClientTimeout({ method: READ }, this.#user, (signal) =>
        read({ path, roots, pathAccess: access }, signal),
      )
    } catch (error) {
      // Any other error means that the turn is cancelled or the client has left: nothing may be written then.
      if (isParleyError(error, 'CLIENT_REFUSED') || isParleyError(error, 'CLIENT_ANSWER_INVALID')) return null
      throw error
    }
  }
}

function change(path: string, oldText: string | null, newText: string): readonly ToolCallContent[] {
  if ((oldText?.length ?? 0) + newText.length <= MAX_DIFF_CHARS) return [{ type: 'diff', path, oldText, newText }]
  const text = `${newText.length} characters were written; that is too long to show.`
  return [{ type: 'content', content: { type: 'text', text } }]
}

function requireLine(what: string, value: number | undefined): void {
  if (value !== undefined && (!Number.isInteger(value) || value < 1)) fail('LINE_INVALID', { what, value })
}
