/** `parley ls`: the sessions, newest first. It only reads, so it also works while a server owns the state. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Config } from '../../../config/settings.ts'
import { configFor } from '../../configured.ts'
import { type OfflineSession, openReader } from '../../../server/offline/offline-sessions.ts'
import { noDisplay, workWith } from '../../connect/with-client.ts'
import { OK } from '../../runtime/exit-codes.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { printJson } from '../../output/json.ts'
import { shortId } from '../../sessions/session-resolution.ts'
import { textOption } from '../../runtime/options.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import { paintOn } from '../../output/terminal-io.ts'
import type { Paint } from '../../output/terminal/colors.ts'
import { ago } from '../../output/terminal/pace.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { type SessionTableRow, markOf, pad, sessionTable } from '../../output/view/session-table.ts'

/** How many sessions a user sees without `--all`. */
const MOST_SHOWN = 20

export async function run({ options }: CommandInput): Promise<number> {
  const config = await configFor()
  const cwd = textOption(options, 'cwd')
  const printer = printerFor(options, config)
  if (config.server !== undefined) return await listRemote(config, cwd, printer)
  const { signal } = watchStops()
  const reader = await openReader(config)
  let found = 0
  try {
    for await (const session of reader.list(cwd === undefined ? undefined : resolve(cwd))) {
      if (signal.aborted) break
      printer.print(session)
      found += 1
    }
  } finally {
    await reader.close()
  }
  if (!signal.aborted) printer.end?.()
  if (found === 0 && process.stderr.isTTY) process.stderr.write(`${noneIn(cwd)}\n`)
  return signal.aborted ? (signal.reason as number) : 0
}

/** The directory is one of the server's machine, so it is sent as the user typed it. */
function listRemote(config: Config, cwd: string | undefined, printer: Printer): Promise<number> {
  return workWith({ config, embedded: false }, noDisplay, async ({ client, stops }) => {
    for await (const info of client.sessions(cwd)) {
      if (stops.signal.aborted) break
      printer.print({ ...info, updatedAt: info.updatedAt ?? '', _meta: { 'parley/agent': '' } } as OfflineSession)
    }
    printer.end?.()
    return OK
  })
}

interface Printer {
  print(session: OfflineSession): void
  /** All have been printed. */
  end?(): void
}

function printerFor(options: CommandInput['options'], config: Config): Printer {
  if (options['json'] === true) return { print: printJson }
  const paint = paintOn(process.stdout, config)
  return process.stdout.isTTY ? new Table(paint, options['all'] === true) : { print: (session) => printPlain(session) }
}

function noneIn(cwd: string | undefined): string {
  if (cwd === undefined) return 'No sessions yet. Start one with: parley'
  return `No sessions in ${oneLine(resolve(cwd))}. All of them: parley ls`
}

/** For users at a terminal: headings, columns that fit, and a limited number of rows. */
class Table implements Printer {
  readonly #paint: Paint
  readonly #most: number
  readonly #rows: SessionTableRow[] = []
  #more = 0

  constructor(paint: Paint, all: boolean) {
    this.#paint = paint
    this.#most = all ? Infinity : MOST_SHOWN
  }

  print(session: OfflineSession): void {
    if (this.#rows.length < this.#most) this.#rows.push(rowOf(session))
    else this.#more += 1
  }

  end(): void {
    if (this.#rows.length === 0) return
    const rows = sessionTable(this.#rows, this.#paint, (process.stdout.columns || 80) - 1)
    process.stdout.write(rows.map((row) => `${row}\n`).join(''))
    if (this.#more > 0) process.stdout.write(`${this.#paint('dim', `${this.#more} more; parley ls --all`)}\n`)
  }
}

const WHEN = 11
const AGENT = 10
const TITLE = 40

/** For programs that read lines: every session, in columns that stay where they are. */
function printPlain(session: OfflineSession): void {
  const { id, phase, when, agent, title, directory } = rowOf(session)
  const cells = [
    `${id} ${markOf(phase, unpainted)}`,
    pad(when, WHEN),
    pad(oneLine(agent, AGENT), AGENT),
    pad(oneLine(title, TITLE), TITLE),
    directory,
  ]
  process.stdout.write(`${cells.join('  ')}\n`)
}

const unpainted: Paint = (_style, text) => text

function rowOf({ sessionId, cwd, title, updatedAt, _meta }: OfflineSession): SessionTableRow {
  return {
    id: shortId(sessionId),
    phase: _meta['parley/phase'],
    when: ago(new Date(updatedAt)),
    agent: agentWord(_meta['parley/agent']),
    title: oneLine(title ?? '(untitled)'),
    directory: oneLine(homely(cwd)),
  }
}

/** `claude` for `acp:claude`; a script or a model without what follows it. */
function agentWord(agent: string): string {
  const [kind = '', ...name] = agent.split(':')
  return kind === 'acp' ? name.join(':') : kind.replace('asked-', '')
}

/** `~` for the home directory, as shells write it. */
function homely(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}
