/** The table of agents in `docs/agents.md`, made from the start table and the rows of quirks. */
import { type QuirkRow, quirkRows } from '../src/adapters/agent/external/known/quirk-rows.ts'
import { type KnownAgent, startTable } from '../src/adapters/agent/external/known/start-table.ts'
import { compareVersions } from '../src/adapters/agent/external/known/version.ts'
import { SAFE } from '../src/adapters/agent/external/quirks.ts'

const COLUMNS = 100
const BEGIN = '<!-- Written by `npm run docs`: -->'
const END = '<!-- Until here. -->'

/** The page with its table made anew. */
export function agentsDocument(page: string): string {
  const [before = '', rest = ''] = page.split(BEGIN)
  const [, after = ''] = rest.split(END)
  return `${before}${BEGIN}\n\n${tables()}\n${END}${after}`
}

function tables(): string {
  const tried = startTable.filter((agent) => rowOf(agent) !== undefined)
  const others = startTable.filter((agent) => rowOf(agent) === undefined)
  return [
    '| agent | tried with | asks first | MCP servers | login |',
    '|---|---|---|---|---|',
    ...tried.map(triedRow),
    '',
    'What is special about each:',
    '',
    ...tried.flatMap(notesOf),
    '',
    'These are started as their documentation says, and were not tried with Parley yet:',
    '',
    '| agent | program | login |',
    '|---|---|---|',
    ...others.map(({ command, args, login, ...agent }) => {
      return `| ${namesOf(agent)} | \`${[command, ...args].join(' ')}\` | ${login} |`
    }),
    '',
  ].join('\n')
}

function triedRow(agent: KnownAgent): string {
  const row = rowOf(agent)
  const { asks, mcp } = { ...SAFE, ...row?.fields }
  return `| ${[namesOf(agent), triedWith(row), ASKS[asks], MCP[mcp], agent.login].join(' | ')} |`
}

/** One item of a list. */
function notesOf(agent: KnownAgent): readonly string[] {
  const notes = (rowOf(agent)?.notes ?? []).map((note) => `${note[0]?.toUpperCase()}${note.slice(1)}.`)
  return wrapped(`- **${agent.title}**: ${notes.join(' ')}`)
}

/** Lines as long as those of the page. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined) lines.push(word)
    else if (line.length + 1 + word.length > COLUMNS) lines.push(`  ${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

const ASKS = { always: 'yes', some: 'not always', never: '**no**', unknown: 'not known' } as const
const MCP = { front: 'yes', pass: 'yes', none: 'no' } as const

function namesOf({ id, title, npm }: Pick<KnownAgent, 'id' | 'title' | 'npm'>): string {
  return `\`${id}\`: ${title}${npm === undefined ? ', installed by you' : ''}`
}

function triedWith(row: QuirkRow | undefined): string {
  if (row?.to === undefined) return 'reports of its users'
  return row.proof === 'measured' ? row.to : `${row.to}, reports of its users`
}

/** The row of its latest version. */
function rowOf({ id, info }: KnownAgent): QuirkRow | undefined {
  const rows = quirkRows.filter(({ agent }) => agent === info || agent === id)
  return rows.toSorted((a, b) => compareVersions(a.to ?? '', b.to ?? '')).at(-1)
}
