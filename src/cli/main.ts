/** `parley`: finds the command, runs it, and turns any error into one clear line and an exit code. */
import { closeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { Command, CommanderError, Option } from 'commander'
import { reasonOf } from '../errors/parley-error.ts'
import { type EarlyWorker, offerWorker } from '../threads/early-worker.ts'
import type { CommandInput, CommandRow, OptionRow } from './runtime/command.ts'
import { FAILED, OK, USAGE, exitOfError, isReaderGone } from './runtime/exit-codes.ts'
import { chat, commands } from './command-table.ts'
import { noteCommand, requireHere } from './runtime/running-command.ts'
import { textOption } from './runtime/options.ts'
import { complain, printable } from './say.ts'

/** `early`: the journal's thread, where a server has started it already. */
export async function main(argv: readonly string[], early?: EarlyWorker): Promise<number> {
  offerWorker(early)
  const output = outliveReaders()
  outliveTerminals()
  if (argv[0] === '--version' || argv[0] === '-V') return printVersion(argv.includes('--json'))
  let code = OK
  try {
    const run: Run = async ({ isRemote = false, load }, input) => {
      const { name = '', server, instead } = input
      noteCommand({ name, isRemote, instead, server })
      requireHere(server)
      return (code = (await (await load?.())?.run(input)) ?? USAGE)
    }
    await programFor(argv, run).parseAsync(argv, { from: 'user' })
    return output.failed ? FAILED : code
  } catch (error) {
    return explain(error)
  }
}

/** A reader that closes our output, as `head` does, or a closed terminal is not a failure. */
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

/** Runs a command whose command line has been parsed. */
type Run = (row: CommandRow, input: CommandInput) => Promise<unknown>

/** The parser of `argv`. A test passes a `run` of its own to see which command a line means. */
export function programFor(argv: readonly string[], run: Run): Command {
  const program = new Command('parley')
    .description('The session server for AI agents that you can kill.')
    .usage('[options] [command]')
    .option('-V, --version', 'print the version; with --json also the commit, Node and the format of the journal')
    .option('--server <name>', 'use a remote server: a name from parley login, its address, or ssh://HOST')
    .enablePositionalOptions()
    .showHelpAfterError('(see parley --help)')
    .configureOutput({ writeErr: (text) => process.stderr.write(printable(text)) })
    .exitOverride()
  const parsing: Parsing = { argv, run: (row, input) => run(row, { ...input, hasDashes: argv.includes('--') }) }
  for (const row of commands) addCommand(program, row, parsing)
  program.addHelpText('after', `\nWithout a command: ${chat.summary}.\n${examplesText(chat)}`)
  for (const option of chat.options) program.addOption(optionFor(option))
  if (!isCommandNamed(argv)) setAction(program, chat, parsing)
  refuseVainHelp(program, argv)
  return program
}

/** Help about a command that does not exist: commander prints that of the program, and names nothing. */
function refuseVainHelp(program: Command, [first, name]: readonly string[]): void {
  const known = ['help', ...program.commands.map((one) => one.name())]
  if (first !== 'help' || name === undefined || name.startsWith('-') || known.includes(name)) return
  const refuse = (): never => program.error(`error: unknown command '${name}'`)
  program
    .helpCommand(false)
    .command('help', { hidden: true })
    .allowExcessArguments()
    .allowUnknownOption()
    .action(refuse)
}

interface Parsing {
  readonly argv: readonly string[]
  readonly run: Run
  /** Of the command whose own one is parsed. */
  readonly instead?: string | undefined
}

/** Node leaves a terminal as it found it, and aborts where the terminal is gone by then; one that is closed it leaves alone. */
function outliveTerminals(): void {
  const terminals = [0, 1, 2].filter(isatty)
  process.on('exit', () => {
    for (const descriptor of terminals) if (!isatty(descriptor)) closeSync(descriptor)
  })
}

/** With its own commands, each of which has a `--help` of its own. */
function addCommand(parent: Command, row: CommandRow, parsing: Parsing): void {
  const command = parent.command(row.usage).description(row.summary)
  for (const option of row.options) command.addOption(optionFor(option))
  // It may stand behind the command too; the program's own help shows it once.
  if (!hasOwnServer(row)) command.addOption(optionFor({ flags: '--server <name>', summary: 'as above', hidden: true }))
  command.showHelpAfterError(`(see ${pathOf(command)} --help)`)
  command.addHelpText('after', examplesText(row))
  const inner = row.commands ?? []
  for (const one of inner) addCommand(command, one, { ...parsing, instead: row.instead ?? parsing.instead })
  const takesWords = inner.length === 0 || row.usage.includes(' ')
  const words = parsing.argv.slice(parsing.argv.indexOf(command.name()) + 1)
  if (takesWords || !isCommandNamed(words)) setAction(command, row, parsing)
}

/** Where the first word is the name of a command, known or not: without an action, commander suggests the command that was meant. */
function isCommandNamed([first]: readonly string[]): boolean {
  return first !== undefined && !first.startsWith('-')
}

function setAction(command: Command, row: CommandRow, { run, instead }: Parsing): void {
  if (row.load === undefined) return
  command.action(async () => {
    const name = pathOf(command).replace(/^parley ?/u, '')
    await run(row, { name, args: command.args, instead: row.instead ?? instead, ...optionsOf(command, row) })
  })
}

/** Options may also stand before the command. If a command has a `--server` option of its own, as `rules add` has, that one names no remote server. */
function optionsOf(command: Command, row: CommandRow): Pick<CommandInput, 'options' | 'server'> {
  const all: CommandInput['options'] = command.optsWithGlobals()
  if (!hasOwnServer(row)) return { options: all, server: textOption(all, 'server') }
  const own: CommandInput['options'] = command.opts()
  return { options: { ...all, server: own['server'] }, server: textOption(rootOf(command).opts(), 'server') }
}

function hasOwnServer({ options }: CommandRow): boolean {
  return options.some(({ flags }) => flags.startsWith('--server '))
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent)
}

/** `parley docs key`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

function examplesText({ examples }: CommandRow): string {
  return `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`
}

function optionFor({ flags, summary, hidden, many }: OptionRow): Option {
  const option = new Option(flags, summary)
  if (many) option.argParser((value: string, before?: readonly string[]) => [...(before ?? []), value])
  return hidden ? option.hideHelp() : option
}

async function printVersion(asJson: boolean): Promise<number> {
  const { buildInfo } = await import('../server/build-info.ts')
  const build = buildInfo(process.version)
  process.stdout.write(`${asJson ? JSON.stringify(build) : build.version}\n`)
  return OK
}

/** One line on stderr; never a stack trace at a user. */
function explain(error: unknown): number {
  // Help was requested, or commander has already printed the mistake in the command line.
  if (error instanceof CommanderError) return error.exitCode === 0 ? OK : USAGE
  complain(reasonOf(error))
  return exitOfError(error)
}
