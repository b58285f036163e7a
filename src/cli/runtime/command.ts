/** What a command declares: its name, its words for `--help`, its options, and where its code is. */

export interface CommandRow {
  /** With its arguments, as commander writes them: `run <prompt>`. */
  readonly usage: string
  readonly summary: string
  readonly options: readonly OptionRow[]
  /** What a person may type, for `--help`: each can be run as it stands. */
  readonly examples: readonly string[]
  /** Loaded when the command runs. */
  readonly load: () => Promise<CommandModule>
}

/** `flags` and its sentence; an option that takes a value names it: `--cwd <dir>`. */
export interface OptionRow {
  readonly flags: string
  readonly summary: string
  /** For Parley itself: `--help` does not show it. */
  readonly hidden?: true
  /** It may be given again and again. */
  readonly many?: true
}

export interface CommandModule {
  /** Resolves with the exit code (DESIGN section 5). Throws what main explains in one line. */
  run(input: CommandInput): Promise<number>
}

export interface CommandInput {
  readonly args: readonly string[]
  /** Whether words stand behind `--`: they are a command, whatever they look like. */
  readonly hasDashes?: boolean
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
}
