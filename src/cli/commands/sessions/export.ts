/**
 * `parley export ID`: a session as a file, for users or for `parley import`. It only reads, so it also works while a
 * server owns the state.
 */
import { configFor } from '../../configured.ts'
import type { Config } from '../../../config/settings.ts'
import { fail } from '../../../errors/parley-error.ts'
import { exportedLines } from '../../../server/offline/export.ts'
import { openReader } from '../../../server/offline/offline-sessions.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { escaped } from '../../output/json.ts'
import { textOption } from '../../runtime/options.ts'
import { writeOut } from '../../output/output.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import { markdownOf } from '../../output/view/transcript-markdown.ts'
import { turnsOf } from '../../output/view/stored-transcript.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const [id = ''] = args
  const format = formatOf(textOption(options, 'format') ?? 'md')
  const config = await configFor()
  const { signal } = watchStops()
  const lines = format === 'md' ? markdownLines(config, id) : jsonLines(config, id)
  await writeOut(lines, { path: textOption(options, 'output'), signal })
  return signal.aborted ? (signal.reason as number) : OK
}

async function* markdownLines(config: Config, id: string): AsyncGenerator<string> {
  const reader = await openReader(config)
  try {
    const session = await reader.find(id)
    yield* markdownOf({ session, turns: turnsOf(reader, session.sessionId) })
  } finally {
    await reader.close()
  }
}

async function* jsonLines(config: Config, id: string): AsyncGenerator<string> {
  for await (const line of exportedLines(config, id)) yield escaped(line)
}

function formatOf(value: string): 'md' | 'jsonl' {
  if (value === 'md' || value === 'jsonl') return value
  return fail('CONFIG_INVALID', { key: '--format', value: JSON.stringify(value), reason: 'it must be md or jsonl' })
}
