/** `parley ls`: the sessions, newest first. It only reads, so it works whoever owns the state. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { configFor } from '../configured.ts'
import { type Listed, openReader } from '../../server/reader.ts'
import type { CommandInput } from '../command.ts'
import { printJson } from '../json.ts'
import { shortId } from '../opening.ts'
import { textOption } from '../options.ts'
import { watchStops } from '../stops.ts'
import { paintOn } from '../surfaces.ts'
import type { Paint } from '../terminal/colors.ts'
import { ago } from '../terminal/pace.ts'
import { oneLine, widthOf } from '../terminal/text.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor()
  const cwd = textOption(options, 'cwd')
  const { signal } = watchStops()
  const reader = await openReader(config)
  const print = options['json'] === true ? printJson : tablePrinter(paintOn(process.stdout, config))
  let found = 0
  try {
    for await (const session of reader.list(cwd === undefined ? undefined : resolve(cwd))) {
      if (signal.aborted) break
      print(session)
      found += 1
    }
  } finally {
    await reader.close()
  }
  if (found === 0 && process.stderr.isTTY) process.stderr.write(`${noneIn(cwd)}\n`)
  return signal.aborted ? (signal.reason as number) : 0
}

function noneIn(cwd: string | undefined): string {
  if (cwd === undefined) return 'No sessions yet. Start one with: parley'
  return `No sessions in ${oneLine(resolve(cwd))}. All of them: parley ls`
}

const WHEN = 11
const TITLE = 40

function tablePrinter(paint: Paint): (session: Listed) => void {
  const columns = process.stdout.isTTY ? process.stdout.columns || 80 : Infinity
  const room = Math.max(12, Math.min(TITLE, columns - 42))
  return ({ sessionId, cwd, title, updatedAt, _meta }) => {
    const cells = [
      `${paint('code', shortId(sessionId))} ${markOf(_meta?.['parley/phase'], paint)}`,
      paint('dim', pad(ago(new Date(updatedAt)), WHEN)),
      pad(oneLine(title ?? '(untitled)', room), room),
      paint('dim', oneLine(homely(cwd), columns - room - WHEN - 16)),
    ]
    process.stdout.write(`${cells.join('  ')}\n`)
  }
}

/** One column: what needs a person stands out. */
function markOf(phase: 'working' | 'waiting' | 'suspended' | 'closed' | undefined, paint: Paint): string {
  switch (phase) {
    case 'working':
      return paint('good', '●')
    case 'waiting':
    case 'suspended':
      return paint('asking', '?')
    case 'closed':
      return paint('dim', '×')
    case undefined:
      return ' '
  }
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** `~` for the home directory, as shells write it. */
function homely(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}
