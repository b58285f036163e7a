/** `npm run kill -- docs --runs N`: kills a document server while it indexes, and fails when anything is found half. */
import { parseArgs } from 'node:util'
import { killWhileIndexing } from './kill.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '100' } } })
const { rounds, old, anew, both } = await killWhileIndexing(Number(values.runs))
console.log(`${rounds} kills: ${old} documents found as they were, ${anew} as they are, ${both.length} neither`)
for (const line of both) console.log(line)
process.exitCode = both.length === 0 && rounds > 0 ? 0 : 1
