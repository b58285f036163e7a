/** `parley`: finds the command, runs it, and turns whatever it throws into one clear line and an exit code. */
import { Command, CommanderError } from 'commander'
import { isParleyError, reasonOf } from '../errors/parley-error.ts'
import type { CommandInput, CommandRow } from './command.ts'
import { commands } from './table.ts'

const USAGE = 2
const IN_USE = 75

export async function main(argv: readonly string[]): Promise<number> {
  let code = 0
  const program = new Command('parley')
    .description('The session server for AI agents that you can kill.')
    .exitOverride()
  for (const row of commands) addCommand(program, row, (exit) => (code = exit))
  try {
    await program.parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    return explain(error)
  }
}

function addCommand(program: Command, row: CommandRow, done: (code: number) => void): void {
  const command = program.command(row.usage).description(row.summary)
  for (const option of row.options) command.option(option.flags, option.summary)
  command.action(async () => {
    const module = await row.load()
    done(await module.run({ args: command.args, options: command.opts() satisfies CommandInput['options'] }))
  })
}

/** One line on stderr; never a stack trace at a user. */
function explain(error: unknown): number {
  // Help and version were asked for; commander has printed what a wrong flag needs.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE
  process.stderr.write(`parley: ${reasonOf(error)}\n`)
  if (isParleyError(error, 'STATE_IN_USE')) return IN_USE
  return isParleyError(error, 'CONFIG_INVALID') ? USAGE : 1
}
