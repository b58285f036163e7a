/** `npm run kill -- docs [--runs N | --seconds N] [--seed S]`: kills a document server while it indexes, and fails when anything is found half. */
import { parseArgs } from 'node:util'
import { SERIES_OPTIONS, playSeries, seriesOf } from '../series/series.ts'
import { DocsKill } from './kill.ts'

const { values } = parseArgs({ options: SERIES_OPTIONS })
await using kill = await DocsKill.open()
const rounds = await playSeries({ ...seriesOf(values, { runs: 100, jobs: 1 }), jobs: 1 }, kill)
await kill.allFound()
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)
const [old, anew] = [sum(rounds.map((round) => round.old)), sum(rounds.map((round) => round.anew))]
const bad = rounds.filter(({ wrong }) => wrong.length > 0).length
console.log(
  `${rounds.length} kills: ${old} documents found as they were, ${anew} as they are; ${bad} kills left some half`,
)
process.exitCode = bad === 0 && rounds.length > 0 ? 0 : 1
