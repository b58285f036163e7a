/** `parley logs`: prints the last lines of the server's log, and with `--follow` new ones. */
import type { Config } from '../../../config/settings.ts'
import { fail } from '../../../errors/parley-error.ts'
import { readableLine } from '../../../server/log/log-line.ts'
import { LogReader } from '../../../server/log/log-reader.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { lenientConfig } from '../../configured.ts'
import { askRemote } from '../../remote/ask-remote.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { escaped } from '../../output/json.ts'
import { textOption } from '../../runtime/options.ts'
import { printable } from '../../say.ts'
import { type Stops, watchStops } from '../../runtime/shutdown-signals.ts'
import { pause } from '../../output/terminal/pace.ts'

const LINES = '100'
/** Milliseconds between two reads of the log. */
const POLL_MS = 250

export async function run({ options }: CommandInput): Promise<number> {
  const count = countOf(textOption(options, 'lines') ?? LINES)
  const config = await lenientConfig()
  const print = (line: string) => printLine(options['json'] === true ? escaped(line) : printable(readableLine(line)))
  // From the first line on, Ctrl-C ends the command with 0.
  const stops = watchStops()
  if (config.server !== undefined)
    return await readElsewhere(config, { count, follows: options['follow'] === true, print, stops })
  const log = new LogReader(config.home)
  log.last(count).forEach(print)
  if (options['follow'] === true) await follow(log, { print, stops })
  stops.release()
  return OK
}

interface Following {
  readonly print: (line: string) => void
  readonly stops: Stops
}

/** Until a signal stops it, which is the normal end. */
async function follow(log: LogReader, { print, stops: { signal } }: Following): Promise<void> {
  // A file watcher would miss lines written between the last read and its own start, so the file is polled.
  while (!signal.aborted) {
    log.next().forEach(print)
    await pause(POLL_MS)
  }
}

interface ReadingElsewhere extends Following {
  readonly count: number
  readonly follows: boolean
}

interface LogPart {
  readonly lines: readonly string[]
  /** Where the next part begins. */
  readonly next: string
}

/** The server answers when there are new lines, and after a while without. */
async function readElsewhere(config: Config, { count, follows, print, stops }: ReadingElsewhere): Promise<number> {
  const { signal } = stops
  const ask = (params: object) =>
    askRemote<LogPart>(config, { method: '_parley/logs', params: params, timeoutMs: 60_000, signal })
  try {
    for (let part = await ask({ lines: count }); ; part = await ask({ after: part.next, waitSeconds: 20 })) {
      part.lines.forEach(print)
      if (!follows || signal.aborted) return OK
    }
  } catch (error) {
    if (signal.aborted) return OK
    throw error
  } finally {
    stops.release()
  }
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

function countOf(value: string): number {
  const count = Number(value)
  if (/^\d+$/u.test(value)) return count
  return fail('CONFIG_INVALID', {
    key: '--lines',
    value: JSON.stringify(value),
    reason: 'it must be a number of lines from 0',
  })
}
