/** A command as it is declared: its name, its text for `--help`, its options, and the file with its code. */

export interface CommandRow {
  /** With its arguments, as commander writes them: `run <prompt>`. */
  readonly usage: string
  readonly summary: string
  readonly options: readonly OptionRow[]
  /** Shown below `--help`; each can be run as it stands. */
  readonly examples: readonly string[]
  /** Loaded when the command runs; a group of commands may have nothing to run by itself. */
  readonly load?: () => Promise<CommandModule>
  /** It can use a remote server, which `--server` names. */
  readonly isRemote?: true
  /** A sentence that says what to do if a remote server is named and the command cannot use it. It also applies to subcommands. */
  readonly instead?: string
  /** Subcommands, such as `add` of `parley mcp`. */
  readonly commands?: readonly CommandRow[]
}

/** `flags` and its sentence; an option that takes a value names it: `--cwd <dir>`. */
export interface OptionRow {
  readonly flags: string
  readonly summary: string
  /** Only Parley itself passes it; `--help` does not show it. */
  readonly hidden?: true
  /** Repeatable. */
  readonly many?: true
}

export interface CommandModule {
  /** Resolves with the exit code. `main` prints what it throws as one line. */
  run(input: CommandInput): Promise<number>
}

export interface CommandInput {
  /** `rules add`. */
  readonly name?: string
  readonly args: readonly string[]
  /** The remote server that is meant. */
  readonly server?: string | undefined
  /** A sentence that says what to do instead, for a command that cannot use a remote server. */
  readonly instead?: string | undefined
  /** Whether the command line has `--`: all words after it are a command, also those that begin with a dash. */
  readonly hasDashes?: boolean
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
}
