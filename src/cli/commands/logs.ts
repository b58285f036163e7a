/** `parley logs`: what the server has to tell of itself, readably, and what it goes on to tell. */
import { loadConfig } from '../../config/load.ts'
import { fail } from '../../errors/parley-error.ts'
import { readableLine } from '../../server/log-line.ts'
import { LogReader } from '../../server/log-reader.ts'
import type { CommandInput } from '../command.ts'
import { OK } from '../exit.ts'
import { textOption } from '../options.ts'
import { watchStops } from '../stops.ts'

const LINES = '100'

export async function run({ options }: CommandInput): Promise<number> {
  const count = countOf(textOption(options, 'lines') ?? LINES)
  const { home } = await loadConfig()
  const log = new LogReader(home)
  const print = options['json'] === true ? printLine : (line: string) => printLine(printable(readableLine(line)))
  log.last(count).forEach(print)
  if (options['follow'] === true) await follow(log, print)
  return OK
}

/** Until it is told to stop: that is how one leaves it, so it is no failure. */
async function follow(log: LogReader, print: (line: string) => void): Promise<void> {
  const stops = watchStops()
  const unwatch = log.watch(() => log.next().forEach(print))
  await new Promise((stopped) => stops.signal.addEventListener('abort', stopped))
  unwatch()
  stops.release()
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** The log quotes what others sent: nothing in it may steer the terminal. */
function printable(line: string): string {
  return line.replace(/\p{Cc}/gu, ' ')
}

function countOf(value: string): number {
  const count = Number(value)
  if (/^\d+$/u.test(value)) return count
  return fail('CONFIG_INVALID', {
    key: '--lines',
    value: JSON.stringify(value),
    reason: 'it is a number of lines from 0',
  })
}
