/** `parley`: finds the command, runs it, and turns whatever it throws into one clear line and an exit code. */
import { Command, CommanderError, Option } from 'commander'
import { reasonOf } from '../errors/parley-error.ts'
import type { CommandInput, CommandRow, OptionRow } from './runtime/command.ts'
import { FAILED, OK, USAGE, exitOfError, isReaderGone } from './runtime/exit-codes.ts'
import { chat, commands } from './table.ts'
import { complain, printable } from './say.ts'

export async function main(argv: readonly string[]): Promise<number> {
  const output = outliveReaders()
  if (argv[0] === '--version' || argv[0] === '-V') return printVersion()
  let code = OK
  try {
    const act: Act = async (row, input) => (code = await (await row.load()).run(input))
    await programFor(argv, act).parseAsync(argv, { from: 'user' })
    return output.failed ? FAILED : code
  } catch (error) {
    return explain(error)
  }
}

/** Whoever reads our output may leave, or close the terminal: that is no failure of ours, and nobody is left to be told of one. */
function outliveReaders(): { readonly failed: boolean } {
  const output = { failed: false }
  process.stdout.on('error', (error) => {
    if (isReaderGone(error)) return
    complain(`The output could not be written: ${reasonOf(error)}`)
    output.failed = true
    // It may be known only after the command has ended.
    process.exitCode = FAILED
  })
  process.stderr.on('error', () => undefined)
  return output
}

/** What becomes of a command line that is understood. */
export type Act = (row: CommandRow, input: CommandInput) => Promise<unknown>

export function programFor(argv: readonly string[], act: Act): Command {
  const program = new Command('parley')
    .description('The session server for AI agents that you can kill.')
    .usage('[options] [command]')
    .option('-V, --version', 'print the version')
    .enablePositionalOptions()
    .showHelpAfterError('(parley --help tells more)')
    .configureOutput({ writeErr: (text) => process.stderr.write(printable(text)) })
    .exitOverride()
  const hasDashes = argv.includes('--')
  const noted: Act = (row, input) => act(row, { ...input, hasDashes })
  for (const row of commands) fill(program.command(row.usage).description(row.summary), row, noted)
  program.addHelpText('after', `\nWithout a command: ${chat.summary}.\n${examplesText(chat)}`)
  for (const option of chat.options) program.option(option.flags, option.summary)
  // With a word that is no command, the program must not take it for a chat but suggest the command that was meant.
  const [first] = argv
  return first === undefined || first.startsWith('-') ? fill(program, { ...chat, options: [] }, noted) : program
}

function fill(command: Command, row: CommandRow, act: Act): Command {
  for (const option of row.options) command.addOption(optionFor(option))
  if (command.parent !== null) command.showHelpAfterError(`(parley ${command.name()} --help tells more)`)
  if (command.parent !== null) command.addHelpText('after', examplesText(row))
  return command.action(async () => {
    // Options may also stand before the command.
    await act(row, { args: command.args, options: command.optsWithGlobals() satisfies CommandInput['options'] })
  })
}

function examplesText({ examples }: CommandRow): string {
  return `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`
}

function optionFor({ flags, summary, hidden, many }: OptionRow): Option {
  const option = new Option(flags, summary)
  if (many) option.argParser((value: string, before?: readonly string[]) => [...(before ?? []), value])
  return hidden ? option.hideHelp() : option
}

async function printVersion(): Promise<number> {
  const { serverInfo } = await import('../server/version.ts')
  process.stdout.write(`${serverInfo.version}\n`)
  return OK
}

/** One line on stderr; never a stack trace at a user. */
function explain(error: unknown): number {
  // Help was asked for; or commander has said what is wrong with the command line.
  if (error instanceof CommanderError) return error.exitCode === 0 ? OK : USAGE
  complain(reasonOf(error))
  return exitOfError(error)
}
