/** The table of agents in `docs/agents.md`, made from the start table and the rows of quirks. */
import { type QuirkRow, quirkRows } from '../src/adapters/agent/external/known/quirk-rows.ts'
import { type KnownAgent, startTable } from '../src/adapters/agent/external/known/start-table.ts'
import { compareVersions } from '../src/adapters/agent/external/known/version.ts'
import { SAFE } from '../src/adapters/agent/external/quirks.ts'

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
    '| agent | tried with | asks first | MCP servers | login | what is special |',
    '|---|---|---|---|---|---|',
    ...tried.map(triedRow),
    '',
    'Started as their makers say, and not tried with Parley yet:',
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
  const cells = [
    namesOf(agent),
    triedWith(row),
    ASKS[asks],
    MCP[mcp],
    agent.login,
    (row?.notes ?? []).map((note) => `${note[0]?.toUpperCase()}${note.slice(1)}.`).join(' '),
  ]
  return `| ${cells.join(' | ')} |`
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
