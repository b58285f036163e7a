/** Lasting decisions of users about tool calls: rules of configuration files, and "always" or "never" answers. */

export type RuleEffect = 'allow' | 'ask' | 'deny'

/**
 * The calls to which a rule applies: those that match every field that is present. At least one of the first five is
 * present.
 */
export interface RuleSubject {
  /** The name in the registry; with a `server`, the name that this one gave it. `*` stands for any letters. */
  readonly tool?: string
  readonly server?: string
  /** As in a `.gitignore`, relative to a directory of the root set: `*`, `**`, `?`. */
  readonly path?: string
  /** The words that a command line begins with; `*` stands for further ones. */
  readonly command?: string
  /** `docs.example.org`, or `*.example.org`. */
  readonly host?: string
  /** The tool as it described itself when the user answered; see `GrantSubject`. */
  readonly definition?: string
}

/** One tool, and of a tool that runs commands or fetches pages exactly this command or host. */
export interface GrantSubject {
  /** The tool's name in the registry. */
  readonly tool: string
  /** `parley` for a builtin tool; else the hash of what its server says of it: a tool that changes is another tool. */
  readonly definition: string
  /** The beginning of a command line that the user saw, like `npm test`. */
  readonly command?: string
  readonly host?: string
}

/** A tool call that the user always allows, or never allows, in one session. */
export interface Grant extends GrantSubject {
  readonly effect: 'allow' | 'deny'
}

export interface Rule {
  readonly effect: RuleEffect
  readonly subject: RuleSubject
  /** The source of the rule, for users: `of your parley.toml`. */
  readonly origin: string
}

/** An immutable picture of the rules that hold for a session. */
export interface RuleSet {
  readonly rules: readonly Rule[]
  /** The root set with its links resolved, the cwd first. */
  readonly roots: readonly string[]
  /** The files and directories that hold rules and state of Parley itself: a call that names one is always asked about. */
  readonly own: readonly string[]
  /** Why not all rules are known, in one sentence: then everything is asked about. */
  readonly broken?: string
}

/** Kept by the server, for all sessions. */
export interface Rules {
  /**
   * The rules as they are now, so that an edited rule applies to the next call. Never throws; a file that cannot be read
   * is listed in `broken`.
   */
  rulesFor(roots: readonly string[]): Promise<RuleSet>
  /** Allows or denies it in all sessions of this directory, from now on. Stored when it resolves. */
  remember(cwd: string, rule: Pick<Rule, 'effect' | 'subject'>): Promise<void>
}
