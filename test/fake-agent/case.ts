/** What a fake agent is told to do: the data of `case.json`. Everything that is left out goes well. */

type Fields = Readonly<Record<string, unknown>>

export interface Case {
  /** Default `{name: 'fake', version: '1.0.0'}`. */
  readonly info?: Fields
  /** Default: what was asked for. */
  readonly protocolVersion?: number
  /** `agentCapabilities` as ACP has them. */
  readonly capabilities?: Fields
  readonly authMethods?: readonly Fields[]
  /** Answers -32000 to new, load, resume and prompt until `authenticate` was called, in any process. */
  readonly needsLogin?: boolean
  /** `modes`, `configOptions` and `models` of `session/new`, `load` and `resume`. */
  readonly settings?: Fields
  /** They outlive the process; otherwise it forgets what a client has set. */
  readonly keepsSettings?: boolean
  /** What its store has after a kill. Default `all`, at once; `finished`: a turn's words once the turn has ended. */
  readonly keeps?: 'all' | 'finished' | 'prompts' | 'nothing'
  /** A session that never had a prompt cannot be loaded. */
  readonly dropsUnprompted?: boolean
  readonly reusesIds?: boolean
  /** Its responses have `"3"` for the id 3. */
  readonly textIds?: boolean
  readonly replay?: Replay
  /** Sessions of one page of `session/list`. Default 50. */
  readonly pageSize?: number
  readonly ignores?: readonly ('eof' | 'SIGTERM')[]
  /** While one prompt runs, others get no answer. */
  readonly answersOnePrompt?: boolean
  /** Something is said of its process. */
  readonly isProcess?: true
  /** A process that starts the real one and hands it its pipes. */
  readonly isWrapped?: boolean
  /** Before it reads anything. */
  readonly start?: readonly Move[]
  /**
   * By method. A request whose moves have no `answer` gets the usual one after them. Those of `session/cancel` end the moves of
   * the open prompt, and answer it; an empty list ignores the cancel.
   */
  readonly on?: Readonly<Record<string, readonly Move[]>>
  /** By the last text of a prompt; `*` for all others. Without moves it says `echo: TEXT`. */
  readonly prompts?: Readonly<Record<string, readonly Move[]>>
}

export interface Replay {
  /** Before the response, all after it, or one update before it and the others after it. Default `before`. */
  readonly when?: 'before' | 'after' | 'split'
  readonly everyMs?: number
  /** Also at `session/resume`. */
  readonly onResume?: boolean
  readonly changes?: readonly ReplayChange[]
}

export type ReplayChange =
  | 'empty'
  | 'doubled'
  | 'reversed'
  | 'merged'
  | 'no ids'
  | 'no thoughts'
  | 'no calls'
  | 'pseudo users'
  | 'last turn lost'

/**
 * One thing to do; its first key says which. In texts stand `{n}` (number of the repetition), `{text}` (of the prompt),
 * `{known}` (how many prompts its memory has), `{session}`, `{cwd}`, `{mode}`, `{now}` and `{env.NAME}`.
 */
export type Move =
  | { readonly chunk: string; readonly role?: 'agent' | 'thought' | 'user'; readonly messageId?: string }
  /** `params.update` of a `session/update`. */
  | { readonly update: unknown }
  | { readonly notify: string; readonly params?: unknown }
  /** Sends it and waits, unless `goesOn`; then plays those of `onAnswer` under `error`, `result`, or the outcome of a permission. */
  | ({ readonly request: string; readonly params?: Fields } & Answered)
  | ({ readonly permission: { readonly toolCall?: Fields; readonly options?: readonly Fields[] } } & Answered)
  | { readonly answer: unknown }
  /** A JSON-RPC error, as it is. */
  | { readonly fail: unknown }
  /** No answer, whatever comes. */
  | { readonly silent: true }
  | { readonly wait: number }
  | { readonly untilCancel: true }
  /** Waits until the test opens it. */
  | { readonly gate: string }
  /** A line in the log, for the test to wait for. */
  | { readonly mark: string }
  | { readonly repeat: number; readonly moves: readonly Move[] }
  /** The first times, over all processes; `later` after that. */
  | { readonly first: number; readonly name: string; readonly moves: readonly Move[]; readonly later?: readonly Move[] }
  /** If the request contains this text. */
  | { readonly if: string; readonly moves: readonly Move[]; readonly else?: readonly Move[] }
  /** All that these write goes out in one write. */
  | { readonly glue: readonly Move[] }
  /** All that these write goes out in pieces of so many bytes. */
  | { readonly pieces: number; readonly moves: readonly Move[] }
  /** Text on stdout as it is, repeated up to `bytes`. */
  | { readonly raw: string; readonly bytes?: number }
  | { readonly stderr: string; readonly bytes?: number }
  | { readonly die: number | 'SIGKILL' | 'SIGSEGV' }
  | {
      readonly grandchild: {
        readonly holdsPipe?: boolean
        readonly ownSession?: boolean
        readonly ignoresTerm?: boolean
      }
    }
  /** It lives, and reads no more. */
  | { readonly deafen: true }
  /** Its store loses this session. */
  | { readonly forget: true }

interface Answered {
  readonly goesOn?: boolean
  readonly onAnswer?: Readonly<Record<string, readonly Move[]>>
}

/** A line of its log. Every process writes `start` first. */
export interface LogLine {
  readonly pid: number
  readonly start?: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }
  /** A message, as it was received. */
  readonly got?: { readonly id?: number | string; readonly method?: string; readonly params?: Fields } & Fields
  readonly mark?: string
  readonly grandchild?: number
  /** What happened to it: `eof`, `SIGTERM`, `exit`, or a line that is not JSON. */
  readonly event?: string
}
