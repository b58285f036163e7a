/** `parley` without a command: a chat in this directory, at a terminal or with prompts from a pipe. */
import { configFor } from '../configured.ts'
import type { CommandInput } from '../runtime/command.ts'
import { textOption } from '../runtime/options.ts'
import { isTerminal } from '../output/terminal-io.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor({ agent: textOption(options, 'agent'), model: textOption(options, 'model') })
  const reaching = { config, embedded: options['embedded'] === true }
  if (isTerminal(process.stdin, config) && isTerminal(process.stdout, config)) {
    const { chatOnTerminal } = await import('../chat/terminal.ts')
    return chatOnTerminal(reaching, options)
  }
  const { chatFromLines } = await import('../chat/piped.ts')
  return chatFromLines(reaching, options)
}
