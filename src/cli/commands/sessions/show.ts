/** `parley show ID` prints the conversation of a session. It only reads, so it also works while a server owns the state. */
import { configFor } from '../../configured.ts'
import type { Config } from '../../../config/settings.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { jsonLine } from '../../output/json.ts'
import { shortId } from '../../sessions/session-resolution.ts'
import { type StoredReader, type ReadableSession, readStored } from '../../sessions/stored-reader.ts'
import { writeOut } from '../../output/output.ts'
import { paintOn } from '../../output/terminal-io.ts'
import { ago } from '../../output/terminal/pace.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { planRows } from '../../output/view/rows.ts'
import { type StoredTranscript, turnsOf } from '../../output/view/stored-transcript.ts'
import { itemRows } from '../../output/view/transcript-rows.ts'

export async function run({ args, options }: CommandInput): Promise<number> {
  const config = await configFor()
  return readStored(config, async (reader, signal) => {
    const session = await reader.find(args[0] ?? '')
    const lines = options['json'] === true ? jsonLines(reader, session) : textLines(reader, session, config)
    await writeOut(lines, { path: undefined, signal })
  })
}

async function* jsonLines(reader: StoredReader, { sessionId }: ReadableSession): AsyncGenerator<string> {
  for await (const params of reader.updates(sessionId)) yield jsonLine(params)
}

/** Yields one turn at a time, then the final plan, and the state of the last turn. */
async function* textLines(reader: StoredReader, session: ReadableSession, config: Config): AsyncGenerator<string> {
  const paint = paintOn(process.stdout, config)
  const columns = process.stdout.isTTY ? (process.stdout.columns || 80) - 1 : Number.MAX_SAFE_INTEGER
  const look = { paint, width: () => columns }
  const about = [shortId(session.sessionId), ago(new Date(session.updatedAt)), session.cwd].join(' · ')
  yield paint('bold', oneLine(session.title ?? '(untitled)', columns))
  yield paint('dim', oneLine(about, columns))
  let last: StoredTranscript | undefined
  for await (const turn of turnsOf(reader, session.sessionId)) {
    const rows = itemRows(turn.transcript.items, look)
    const place = turn.before === undefined ? [] : [paint('dim', `(entry ${turn.before})`)]
    if (rows.length > 0) yield* ['', ...place, ...rows]
    last = turn
  }
  const plan = last?.transcript.plan ?? []
  if (plan.length > 0) yield* ['', ...planRows(plan, look)]
  if (last?.unfinished !== undefined) yield* ['', paint('asking', UNFINISHED[last.unfinished])]
}

const UNFINISHED = {
  working: '(Not finished: the turn is still running.)',
  waiting: '(Not finished: the turn waits for an answer to its question. Open the session to give one.)',
} as const
