/**
 * `npm run conformance [-- [--mutants] [--page] [--only TEXT] [--over NAME] [--front] [--jobs N] [--patience SECONDS] [-- COMMAND ARGS…]]`: holds Parley, or any agent that
 * speaks ACP on its pipes, to the standard. Ends with 1 when something fails that must be.
 */
import { setup } from '../../build.setup.ts'
import { cases } from './cases/every-case.ts'
import type { Played } from './play.ts'
import { type Many, isCaught, lawResults, playAll } from './run.ts'
import { frontTransports } from './front.ts'
import { type Judged, pageTable, sideBySide, sumOf, textTable } from './table.ts'
import { type Transport, command, embedded, http, stdio, unixSocket, webSocket } from './transport.ts'

interface Wish {
  readonly mutants: boolean
  /** As a page of Markdown. */
  readonly page: boolean
  readonly only: string | undefined
  /** By every way into a node that has no session itself, beside the server that has: takes a PostgreSQL. */
  readonly front: boolean
  /** The transports whose names contain this. */
  readonly over: string
  readonly jobs: number
  /** Seconds that an answer may take. */
  readonly patience: number
  readonly words: readonly string[]
}

function wishIn(args: readonly string[]): Wish {
  const cut = args.indexOf('--')
  const ours = cut === -1 ? args : args.slice(0, cut)
  const after = (flag: string): string | undefined => (ours.includes(flag) ? ours[ours.indexOf(flag) + 1] : undefined)
  return {
    mutants: ours.includes('--mutants'),
    page: ours.includes('--page'),
    only: after('--only'),
    front: ours.includes('--front'),
    over: after('--over') ?? '',
    jobs: Number(after('--jobs') ?? 4),
    patience: Number(after('--patience') ?? 20),
    words: cut === -1 ? [] : args.slice(cut + 1),
  }
}

const wish = wishIn(process.argv.slice(2))
const chosen = cases.filter(({ row, name }) => wish.only === undefined || `${row} ${name}`.includes(wish.only))

async function on(transport: Transport, more: Partial<Many>): Promise<readonly Played[]> {
  try {
    return await playAll({ transport, cases: chosen, jobs: wish.jobs, patience: wish.patience * 1000, ...more })
  } finally {
    await transport.close()
  }
}

/** Prints the table. */
async function judge(transport: Transport): Promise<Judged> {
  const played = await on(transport, {})
  const laws = lawResults(played)
  console.log(wish.page ? `${pageTable(played, laws)}\n` : `\n${transport.name}\n\n${textTable(played, laws)}\n`)
  return { name: transport.name, played, sum: sumOf(played, laws) }
}

/** Says how each did, side by side. True when nothing fails that must be. */
function conclude(judged: readonly Judged[]): boolean {
  console.log(sideBySide(judged))
  return judged.every(({ sum }) => sum.binding === 0)
}

async function mutants(): Promise<boolean> {
  const played = await on(unixSocket(), { mutants: true })
  const escaped = played.filter((one) => !isCaught(one))
  for (const { one, verdict, fired } of escaped)
    console.log(
      `escaped: ${one.row} ${one.name} (${fired ? verdict.result : `the fault had no occasion; ${verdict.result}`})`,
    )
  console.log(`${played.length - escaped.length} of ${played.length} faults were noticed`)
  return escaped.length === 0
}

async function main(): Promise<boolean> {
  if (wish.words.length > 0) return conclude([await judge(command(wish.words))])
  await setup()
  if (wish.mutants) return mutants()
  const judged: Judged[] = []
  const transports = wish.front
    ? [unixSocket(), ...frontTransports()]
    : [embedded(), stdio(), unixSocket(), webSocket(), http()]
  for (const transport of transports)
    if (transport.name.includes(wish.over)) judged.push(await judge(transport))
    else await transport.close()
  if (judged.length === 0) throw new Error(`no transport's name has "${wish.over}" in it`)
  return conclude(judged)
}

process.exitCode = (await main()) ? 0 : 1
