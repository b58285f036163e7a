/**
 * `parley export ID`: a session as a file, for users or for `parley import`. It only reads, so it also works while a
 * server owns the state.
 */
import { configFor } from '../../configured.ts'
import { fail } from '../../../errors/parley-error.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { escaped } from '../../output/json.ts'
import { textOption } from '../../runtime/options.ts'
import { writeOut } from '../../output/output.ts'
import { type StoredReader, readStored } from '../../sessions/stored-reader.ts'
import { markdownOf } from '../../output/view/transcript-markdown.ts'
import { turnsOf } from '../../output/view/stored-transcript.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const [id = ''] = args
  const format = formatOf(textOption(options, 'format') ?? 'md')
  const config = await configFor()
  return readStored(config, (reader, signal) => {
    const lines = format === 'md' ? markdownLines(reader, id) : jsonLines(reader, id)
    return writeOut(lines, { path: textOption(options, 'output'), signal })
  })
}

async function* markdownLines(reader: StoredReader, id: string): AsyncGenerator<string> {
  const session = await reader.find(id)
  yield* markdownOf({ session, turns: turnsOf(reader, session.sessionId) })
}

async function* jsonLines(reader: StoredReader, id: string): AsyncGenerator<string> {
  for await (const line of reader.exported(id)) yield escaped(line)
}

function formatOf(value: string): 'md' | 'jsonl' {
  if (value === 'md' || value === 'jsonl') return value
  return fail('CONFIG_INVALID', { key: '--format', value: JSON.stringify(value), reason: 'it must be md or jsonl' })
}
