/**
 * `npm run bench -- cluster`: sessions in PostgreSQL beside SQLite, and what nodes cost and bring, in one run. It takes a PostgreSQL, and
 * never fails because something is slow.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setup as build } from '../../test/build.setup.ts'
import { measureAppends } from './appends.ts'
import { measureLists } from './lists.ts'
import { measureHop, measureNodes } from './nodes.ts'
import { onPaper } from './on-paper.ts'
import { measureTakeover } from './takeover.ts'

const USAGE = `npm run bench -- cluster [--quick] [--kills N] [--only NAME,…]
  --quick  a tenth of the time and of the sizes: shows that it works
  --kills  how many nodes are killed for the figures of a takeover (50)
  --only   of appends, lists, hop, nodes, takeover, paper`

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    kills: { type: 'string' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.help) return console.log(USAGE)
  await build()
  const directory = await mkdtemp(join(tmpdir(), 'parley-bench-'))
  const share = values.quick ? 0.1 : 1
  const parts = {
    appends: () => measureAppends(directory, share),
    lists: () => measureLists(share),
    hop: () => measureHop(share),
    nodes: () => measureNodes(share),
    takeover: () => measureTakeover(Number(values.kills ?? 50 * share)),
    paper: async () => onPaper(),
  }
  const wanted = values.only?.split(',') ?? Object.keys(parts)
  const chosen = Object.entries(parts).filter(([name]) => wanted.includes(name))
  try {
    for (const [, measure] of chosen) for (const line of await measure()) console.log(line)
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

await main()
process.exit(0)
