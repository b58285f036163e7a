/** A client's files, terminals and user, as ACP v1 asks for them on behalf of the turns of its prompts. */
import { isAbsolute } from 'node:path'
import { fail } from '../../../../errors/parley-error.ts'
import type { PathAccessFilter } from '../../../../ports/values/path-access.ts'
import type {
  FileRange,
  FileText,
  FormRequest,
  ClientPeer,
  ClientTerminal,
  ClientUrlRequest,
  WithRoots,
  FileWithRoots,
  RawFormAnswer,
  TerminalCommand,
  TerminalExit,
  TerminalOutput,
  UrlAnswer,
} from '../../../../ports/client-peer.ts'
import type { Signal } from '../../../../ports/values/signal.ts'
import { fieldsOf, isFields, type PendingRequests } from '../../../../rpc/json-rpc.ts'
import { realPathInside } from '../../../../workspace/real-path.ts'
import type { Transport } from '../../../transport/transport.ts'
import { OrderedRequests, type RequestPosition } from './ordered-requests.ts'
import type { OfferedServices } from '../initialize/client-capabilities.ts'

export interface PeerConnection {
  readonly transport: Transport
  readonly requests: PendingRequests
  readonly services: OfferedServices
}

/**
 * The services that one connection offers to agents, session by session. It outlives attachments: opening a session again
 * keeps open requests.
 */
export class ClientPeers {
  readonly #connection: PeerConnection
  readonly #sessions = new Map<string, ClientPeerRequests>()

  constructor(connection: PeerConnection) {
    this.#connection = connection
  }

  of(sessionId: string): ClientPeerRequests {
    const peer = this.#sessions.get(sessionId) ?? new ClientPeerRequests(sessionId, this.#connection)
    this.#sessions.set(sessionId, peer)
    return peer
  }

  /** The client has left this session, or all of them with its connection. */
  leave(sessionId?: string): void {
    for (const [id, peer] of this.#sessions) {
      if (sessionId !== undefined && id !== sessionId) continue
      this.#sessions.delete(id)
      peer.leave()
    }
  }
}

export class ClientPeerRequests implements ClientPeer {
  readonly #ordered: OrderedRequests
  readonly readTextFile?: NonNullable<ClientPeer['readTextFile']>
  readonly writeTextFile?: NonNullable<ClientPeer['writeTextFile']>
  readonly createTerminal?: NonNullable<ClientPeer['createTerminal']>
  readonly form?: NonNullable<ClientPeer['form']>
  readonly url?: NonNullable<ClientPeer['url']>
  readonly #sessionId: string
  /** Terminals that the client created for this session; no other client can show them. */
  readonly #terminals = new Set<string>()

  constructor(sessionId: string, { transport, requests, services }: PeerConnection) {
    this.#sessionId = sessionId
    this.#ordered = new OrderedRequests(requests, transport)
    if (services.readTextFile) this.readTextFile = (file, signal) => this.#read(file, signal)
    if (services.writeTextFile) this.writeTextFile = (file, signal) => this.#write(file, signal)
    if (services.terminal) this.createTerminal = (command, signal) => this.#create(command, signal)
    if (services.form) this.form = (request, signal) => this.#form(request, signal)
    if (services.url) this.url = (request, signal) => this.#url(request, signal)
  }

  get gone(): Signal {
    return this.#ordered.gone
  }

  /** From now on requests come after what this attachment has to send before them. */
  follow(attachment: RequestPosition): void {
    this.#ordered.follow(attachment)
  }

  /** Requests that had to wait for entries, and that may be sent now. */
  due(): readonly string[] {
    return this.#ordered.due()
  }

  /** Ends every open request with CLIENT_GONE. */
  leave(): void {
    this.#ordered.leave()
  }

  hasTerminal(id: string): boolean {
    return this.#terminals.has(id)
  }

  async #read({ roots, pathAccess, ...file }: FileWithRoots<FileRange>, signal: Signal): Promise<string> {
    await requireAllowed(file.path, roots, pathAccess)
    return fileText(await this.#ask('fs/read_text_file', file, signal))
  }

  async #write({ roots, pathAccess, ...file }: FileWithRoots<FileText>, signal: Signal): Promise<void> {
    await requireAllowed(file.path, roots, pathAccess)
    await this.#ask('fs/write_text_file', file, signal)
  }

  async #create({ env = {}, roots, ...command }: WithRoots<TerminalCommand>, signal: Signal): Promise<ClientTerminal> {
    if (command.cwd !== undefined) await requireReallyInside(command.cwd, roots)
    const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
    const call = {
      method: 'terminal/create',
      params: { sessionId: this.#sessionId, ...command, ...(variables.length === 0 ? {} : { env: variables }) },
      late: (result: unknown) => this.#releaseLate(result),
    }
    const id = terminalId(await this.#ordered.ask(call, signal))
    this.#terminals.add(id)
    return this.#terminal(id)
  }

  #terminal(id: string): ClientTerminal {
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
    this.#ordered.request('terminal/release', { sessionId: this.#sessionId, terminalId: id })
  }

  /** The terminal of a call that was cancelled meanwhile; nothing else would release it. */
  #releaseLate(result: unknown): void {
    const id = (result as { readonly terminalId?: unknown } | null | undefined)?.terminalId
    if (typeof id === 'string' && id !== '') this.#release(id)
  }

  async #form({ message, schema, toolCallId }: FormRequest, signal: Signal): Promise<RawFormAnswer> {
    const asked = { mode: 'form', message, requestedSchema: schema, ...toolCallField(toolCallId) }
    return formAnswer(await this.#ask('elicitation/create', asked, signal))
  }

  /** Only the action is read: the page, not the client, gets what the user enters. */
  async #url({ message, url, elicitationId, toolCallId }: ClientUrlRequest, signal: Signal): Promise<UrlAnswer> {
    const asked = { mode: 'url', message, url, elicitationId, ...toolCallField(toolCallId) }
    const { action } = formAnswer(await this.#ask('elicitation/create', asked, signal))
    let isComplete = action !== 'accept'
    return {
      action,
      complete: () => {
        if (!isComplete) this.#ordered.notify('elicitation/complete', { elicitationId })
        isComplete = true
      },
    }
  }

  #ask(method: string, params: object, signal: Signal): Promise<unknown> {
    return this.#ordered.ask({ method, params: { sessionId: this.#sessionId, ...params } }, signal)
  }
}

function toolCallField(toolCallId: string | undefined): { readonly toolCallId?: string } {
  return toolCallId === undefined ? {} : { toolCallId }
}

/**
 * Throws PATH_OUTSIDE_ROOTS where a link on this disk leads out of the roots, or may. The caller has checked that `path` as
 * written is inside. A path in the form of another operating system is on the client's disk, and the client guards it.
 */
async function requireReallyInside(path: string, roots: readonly string[]): Promise<void> {
  if (isAbsolute(path)) await realPathInside(path, roots)
}

/** Throws PATH_NOT_ALLOWED as well, where a link leads to a path that the rules deny for this call. */
async function requireAllowed(path: string, roots: readonly string[], pathAccess: PathAccessFilter): Promise<void> {
  if (isAbsolute(path) && pathAccess(await realPathInside(path, roots)) !== undefined)
    fail('PATH_NOT_ALLOWED', { path })
}

// Parses the responses of clients. An invalid response is never an acceptance.

function fileText(result: unknown): string {
  const { content } = fieldsOf(result)
  return typeof content === 'string' ? content : unusable('fs/read_text_file', 'it has no content')
}

function terminalId(result: unknown): string {
  const { terminalId: id } = fieldsOf(result)
  return typeof id === 'string' && id !== '' ? id : unusable('terminal/create', 'it has no terminalId')
}

function terminalOutput(result: unknown): TerminalOutput {
  const { output, truncated, exitStatus } = fieldsOf(result)
  if (typeof output !== 'string') return unusable('terminal/output', 'it has no output')
  const exit = isFields(exitStatus) ? { exit: terminalExit(exitStatus) } : {}
  return { output, truncated: truncated === true, ...exit }
}

function terminalExit(result: unknown): TerminalExit {
  const { exitCode, signal } = fieldsOf(result)
  return {
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    signal: typeof signal === 'string' ? signal : null,
  }
}

/** An unknown action may come from a later version of ACP; it never counts as an acceptance. */
function formAnswer(result: unknown): RawFormAnswer {
  const { action, content } = fieldsOf(result)
  if (typeof action !== 'string') return unusable('elicitation/create', 'it has no action')
  if (action === 'accept') return { action, content: content ?? {} }
  return { action: action === 'decline' ? action : 'cancel', content: undefined }
}

function unusable(method: string, reason: string): never {
  return fail('CLIENT_ANSWER_INVALID', { method, reason })
}
