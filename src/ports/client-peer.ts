/**
 * Services that a client provides to the turns of its prompts: its files, its terminals, forms for its user. A service
 * that it did not offer is undefined.
 */
import type { Signal } from './values/signal.ts'
import type { ElicitationAnswer } from './values/elicitation.ts'
import type { PathAccessFilter } from './values/path-access.ts'

/** A text file as the client has it, unsaved changes and all. Paths are absolute; `line` counts from 1. */
export interface FileRange {
  readonly path: string
  readonly line?: number
  readonly limit?: number
}

export interface FileText {
  readonly path: string
  readonly content: string
}

export interface TerminalCommand {
  readonly command: string
  readonly args?: readonly string[]
  /** May hold secrets: it goes to the client and nowhere else. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Bytes of output that are kept; the beginning goes first. */
  readonly outputByteLimit?: number
}

export interface TerminalOutput {
  readonly output: string
  readonly truncated: boolean
  /** Absent while the command runs. */
  readonly exit?: TerminalExit
}

/** Null where the client does not say. */
export interface TerminalExit {
  readonly exitCode: number | null
  readonly signal: string | null
}

export interface FormRequest {
  readonly message: string
  /** JSON Schema of a flat object, of texts, numbers, choices and yes or no. Never asks for a secret: a form is shown, kept and logged. */
  readonly schema: Readonly<Record<string, unknown>>
  /** The call that it is asked for, if it is asked for one. */
  readonly toolCallId?: string
}

export interface UrlRequest {
  readonly message: string
  /** A web page. The address holds no user's name or password. */
  readonly url: string
  readonly toolCallId?: string
}

/** The result of sending the user to a page: whether it was opened, never what the user did there. */
export interface UrlAnswer {
  readonly action: ElicitationAnswer['action']
  /**
   * Notifies this client only that the purpose of the page is fulfilled. Idempotent; does nothing unless the page was
   * opened.
   */
  complete(): void
}

/**
 * The client services that the agent of a turn uses. Each file access or terminal is a tool call of its own. Its start is
 * stored before its first effect, and its end is always published. All methods throw CLIENT_GONE once the client has left,
 * CLIENT_CANCELLED when the turn is cancelled, CLIENT_TIMEOUT, CLIENT_REFUSED with the client's own words, and
 * CLIENT_ANSWER_INVALID.
 */
export interface TurnClient {
  /** Throws PATH_NOT_ABSOLUTE, PATH_OUTSIDE_ROOTS, PATH_NOT_ALLOWED and LINE_INVALID, before the client is asked. */
  readonly readTextFile: ((file: FileRange) => Promise<string>) | undefined
  /** Throws as above. */
  readonly writeTextFile: ((file: FileText) => Promise<void>) | undefined
  readonly terminals: TurnTerminals | undefined
  /** A mode that the client has not got is absent from it. Not an acceptance is never a throw: it is `decline` or `cancel`. */
  readonly elicit: Elicit | undefined
}

export interface TurnTerminals {
  /** Starts the command in its `cwd`, else in that of the session. Throws as above of its `cwd`. */
  create(command: TerminalCommand): Promise<Terminal>
}

export interface Elicit {
  /** The values are as the schema has them. Throws ELICITATION_INVALID for a form that may not be asked. */
  readonly form?: (form: FormRequest) => Promise<ElicitationAnswer>
  /** Throws ELICITATION_INVALID for an address to which no user may be sent. */
  readonly url?: (page: UrlRequest) => Promise<UrlAnswer>
}

/** A terminal of the client. However its turn ends, it is released. */
export interface Terminal {
  readonly id: string
  readonly toolCallId: string
  output(): Promise<TerminalOutput>
  /** Waits as long as the command runs. A caller that wants to wait less kills the command. */
  waitForExit(): Promise<TerminalExit>
  /** Ends the command; its output can still be read. */
  kill(): Promise<void>
  /** Ends the tool call with the exit and the output that are known, then releases the terminal. Idempotent. */
  release(): Promise<void>
}

/**
 * Services of one client for one session, implemented by an edge. Every promise rejects at once: with CLIENT_GONE when the
 * connection ends, with CLIENT_CANCELLED when the signal aborts. After an abort the edge also cancels the request at the
 * client.
 */
export interface ClientPeer {
  /** Aborts when the connection has ended. */
  readonly gone: Signal
  readonly readTextFile?: (file: FileWithRoots<FileRange>, signal: Signal) => Promise<string>
  readonly writeTextFile?: (file: FileWithRoots<FileText>, signal: Signal) => Promise<void>
  /** If a terminal is created after its request was cancelled, the edge releases it. */
  readonly createTerminal?: (command: WithRoots<TerminalCommand>, signal: Signal) => Promise<ClientTerminal>
  /** Returns the form's answer unchecked. */
  readonly form?: (form: FormRequest, signal: Signal) => Promise<RawFormAnswer>
  readonly url?: (page: ClientUrlRequest, signal: Signal) => Promise<UrlAnswer>
}

/**
 * The path is lexically inside these directories. The edge refuses with PATH_OUTSIDE_ROOTS a path that a link leads out of
 * them.
 */
export type WithRoots<Request> = Request & { readonly roots: readonly string[] }

/** The edge refuses with PATH_NOT_ALLOWED what a link leads to that rules keep from this call. */
export type FileWithRoots<Request> = WithRoots<Request> & { readonly pathAccess: PathAccessFilter }

export interface ClientUrlRequest extends UrlRequest {
  /** Unique, so that the client can be notified when the elicitation is complete. */
  readonly elicitationId: string
}

export interface RawFormAnswer {
  readonly action: ElicitationAnswer['action']
  readonly content: unknown
}

export interface ClientTerminal {
  readonly id: string
  output(signal: Signal): Promise<TerminalOutput>
  waitForExit(signal: Signal): Promise<TerminalExit>
  kill(signal: Signal): Promise<void>
  /** Never waits and never throws. Idempotent. */
  release(): void
}
