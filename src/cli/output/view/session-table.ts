/** The table of `parley ls`: one row for each session, in columns that fit the screen. */
import type { Paint } from '../terminal/colors.ts'
import { endOfLine, oneLine, widthOf } from '../terminal/text.ts'

export interface SessionTableRow {
  /** The beginning of its id. */
  readonly id: string
  readonly phase: 'working' | 'waiting' | 'suspended' | 'closed' | undefined
  /** When something last happened, in words. */
  readonly when: string
  /** In one word. */
  readonly agent: string
  readonly title: string
  readonly directory: string
}

const GAP = '  '
const HEADINGS = { id: 'ID', when: 'LAST', agent: 'AGENT', title: 'TITLE', directory: 'DIRECTORY' } as const
/** The widest column of agents. */
const AGENT = 12
/** Columns below which a title or a directory is unreadable. */
const LEAST = 8
/** The part of the room that titles may take when both columns want more than there is. */
const TITLES = 0.6

/** With headings, no row wider than `width`. */
export function sessionTable(sessions: readonly SessionTableRow[], paint: Paint, width: number): readonly string[] {
  const widest = (column: keyof typeof HEADINGS): number =>
    Math.max(widthOf(HEADINGS[column]), ...sessions.map((session) => widthOf(session[column])))
  const [id, when, agent] = [widest('id'), widest('when'), Math.min(widest('agent'), AGENT)]
  const room = Math.max(2 * LEAST, width - id - 2 - when - agent - 4 * GAP.length)
  const [title, directory] = shared(room, widest('title'), widest('directory'))
  const heading = [
    pad(HEADINGS.id, id + 2),
    pad(HEADINGS.when, when),
    pad(HEADINGS.agent, agent),
    pad(HEADINGS.title, title),
    HEADINGS.directory,
  ]
  const rows = sessions.map((session) =>
    [
      `${paint('code', pad(session.id, id))} ${markOf(session.phase, paint)}`,
      paint('dim', pad(session.when, when)),
      pad(oneLine(session.agent, agent), agent),
      pad(oneLine(session.title, title), title),
      paint('dim', endOfLine(session.directory, directory)),
    ].join(GAP),
  )
  return [paint('dim', heading.join(GAP)), ...rows]
}

/** Each column has what it wants where there is room for both, and what the other leaves otherwise. */
function shared(room: number, title: number, directory: number): readonly [number, number] {
  if (title + directory <= room) return [title, directory]
  const forTitles = Math.floor(room * TITLES)
  if (title <= forTitles) return [title, room - title]
  const left = room - Math.min(directory, room - forTitles)
  return [left, room - left]
}

/** One column. Sessions that need the user stand out. */
export function markOf(phase: SessionTableRow['phase'], paint: Paint): string {
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

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
