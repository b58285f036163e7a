/** `parley show ID`: what was said in a session. It only reads, so it works whoever owns the state. */
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { type Reader, openReader } from '../../server/reader.ts'
import type { CommandInput } from '../command.ts'
import { printJson } from '../json.ts'
import { shortId } from '../opening.ts'
import { watchStops } from '../stops.ts'
import { paintOn } from '../surfaces.ts'
import { ago } from '../terminal/pace.ts'
import { oneLine } from '../terminal/text.ts'
import { transcriptOf } from '../view/stored-transcript.ts'
import { transcriptRows } from '../view/transcript-rows.ts'

type Session = Awaited<ReturnType<Reader['find']>>

export async function run({ args, options }: CommandInput): Promise<number> {
  const config = await loadConfig()
  const { signal } = watchStops()
  const reader = await openReader(config)
  try {
    const session = await reader.find(args[0] ?? '')
    if (options['json'] === true) await showJson(reader, session, signal)
    else await showText(reader, session, config)
  } finally {
    await reader.close()
  }
  return signal.aborted ? (signal.reason as number) : 0
}

async function showJson(reader: Reader, { sessionId }: Session, signal: AbortSignal): Promise<void> {
  for await (const params of reader.updates(sessionId)) {
    if (signal.aborted) return
    printJson(params)
  }
}

async function showText(reader: Reader, session: Session, config: Config): Promise<void> {
  const paint = paintOn(process.stdout, config)
  const columns = process.stdout.isTTY ? (process.stdout.columns || 80) - 1 : Number.MAX_SAFE_INTEGER
  const { transcript, unfinished } = await transcriptOf(reader, session.sessionId)
  const about = [shortId(session.sessionId), ago(new Date(session.updatedAt)), session.cwd].join(' · ')
  const rows = [
    paint('bold', oneLine(transcript.title ?? '(untitled)', columns)),
    paint('dim', oneLine(about, columns)),
    '',
    ...transcriptRows(transcript, { paint, width: () => columns }),
    ...(unfinished === undefined ? [] : ['', paint('asking', UNFINISHED[unfinished])]),
  ]
  process.stdout.write(`${rows.join('\n')}\n`)
}

const UNFINISHED = {
  working: '(Not finished: the turn is still running.)',
  waiting: '(Not finished: the turn waits for an answer to its question. Open the session to give one.)',
} as const
