/** The first rows of a chat: the agent, the session and its state, and how to leave; and its last one. */
import type { SessionInfo } from '../../client/client.ts'
import type { Item } from '../../client/transcript/items.ts'
import type { Transcript } from '../../client/transcript/transcript.ts'
import { shortId } from '../sessions/session-resolution.ts'
import { ago } from '../output/terminal/pace.ts'
import { clean, oneLine } from '../output/terminal/text.ts'
import type { ToolCallUpdate } from '../../client/incoming/updates.ts'
import { callRows } from '../output/view/call-rows.ts'
import type { Look } from '../output/view/rows.ts'
import { transcriptRows } from '../output/view/transcript-rows.ts'

export interface Greeting {
  /** The agent: `guide`, `script` …; undefined where the session decides it. */
  readonly agent: string | undefined
  readonly cwd: string
  /** Undefined for a new session. */
  readonly continued: SessionInfo | undefined
  readonly transcript: Transcript
  /** All of it, and not only where it stands. */
  readonly whole: boolean
}

const LAST_ROWS = 8

export function greetingRows({ agent, cwd, continued, transcript, whole }: Greeting, look: Look): readonly string[] {
  const { paint, width } = look
  const which =
    continued === undefined
      ? 'new session'
      : `session ${shortId(continued.sessionId)}, ${ago(new Date(continued.updatedAt ?? 0))}`
  return [
    `${paint('bold', 'Parley')} ${paint('dim', oneLine(['', agent, which, cwd].filter(isGiven).join(' · ').trim(), width() - 8))}`,
    paint('dim', oneLine(`Esc stops a turn, Ctrl-D leaves, /help shows more.${commandsHint(transcript)}`, width())),
    ...(continued === undefined ? [paint('dim', oneLine('In a browser or on a phone: parley web', width()))] : []),
    '',
    ...(whole ? allRows(transcript, look) : lastRows(transcript, look)),
  ]
}

/** How to come back, and what becomes of a turn that runs. */
export function farewellRow(sessionId: string, turn: 'none' | 'interrupted' | 'continues', { paint }: Look): string {
  const said = { none: '', interrupted: 'Its turn is interrupted. ', continues: 'Its turn continues. ' }[turn]
  return paint('dim', `${said}Return with: parley attach ${shortId(sessionId)}`)
}

/** Where a model answers, its settings say which; left to the server, without one, it is the guide. */
export function shownAgentName(agent: string): string | undefined {
  if (agent === '') return undefined
  return agent === 'auto' ? 'guide' : oneLine(agent.replace(/:.*$/su, ''), 32)
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined
}

function allRows(transcript: Transcript, look: Look): readonly string[] {
  const rows = transcriptRows(transcript, look, numbered(transcript))
  return rows.length === 0 ? [] : [...titleRows(transcript, look), ...rows, '']
}

/** Each call by its number in the session, by which all of it can be printed. */
function numbered({ items }: Transcript) {
  const calls = items.flatMap((item) => (item.kind === 'tool_call' ? [item.call.toolCallId] : []))
  const numbers = new Map(calls.map((id, index) => [id, index + 1]))
  return (call: ToolCallUpdate, look: Look) => callRows(call, look, { number: numbers.get(call.toolCallId) ?? 0 })
}

function titleRows({ title }: Transcript, { paint, width }: Look): readonly string[] {
  return title === null ? [] : [paint('dim', oneLine(`— ${title} —`, width())), '']
}

function commandsHint({ commands }: Transcript): string {
  const names = commands.slice(0, 5).map(({ name }) => `/${name}`)
  return names.length === 0 ? '' : ` Commands: ${names.join(' ')}`
}

/** The end of the conversation, so that users see where they are. */
function lastRows(transcript: Transcript, look: Look): readonly string[] {
  const from = transcript.items.findLastIndex(isPrompt)
  const rows = transcriptRows(
    { ...transcript, items: transcript.items.slice(Math.max(0, from)), plan: [] },
    look,
    numbered(transcript),
  )
  if (rows.length === 0) return []
  const [first = '', ...rest] = rows
  const shown = rest.length <= LAST_ROWS ? rows : [first, look.paint('dim', '  …'), ...rest.slice(-LAST_ROWS)]
  return [...titleRows(transcript, look), ...shown, '']
}

function isPrompt(item: Item): boolean {
  return item.kind === 'message' && item.role === 'user'
}

/** The earlier prompts, newest first, for the arrow keys. */
export function promptsOf({ items }: Transcript): readonly string[] {
  return items
    .flatMap((item) => (item.kind === 'message' && item.role === 'user' ? [item.content] : []))
    .map((content) => clean(content.map(({ text }) => text ?? '').join(' ')).trim())
    .filter((text) => text !== '')
    .reverse()
}
