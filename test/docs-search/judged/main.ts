/**
 * `npm run eval -- search`: the server beside substring search and trigrams, on the judged queries, in one run. Ends with 1 when
 * another system is better anywhere, or when Parley finds nothing for a query.
 */
import { setup } from '../../build.setup.ts'
import { compare } from './compare.ts'

await setup()
const { passages, rows } = await compare()
console.log(`${passages} passages\n`)
console.log('| group | half | system | queries | recall@10 | nDCG@10 | nothing found |')
console.log('|---|---|---|---|---|---|---|')
for (const { group, half, system, score } of rows) {
  const { queries, recall, ndcg, empty } = score
  console.log(
    `| ${group} | ${half} | ${system} | ${queries} | ${recall.toFixed(3)} | ${ndcg.toFixed(3)} | ${empty.length} |`,
  )
}
for (const { system, score } of rows) {
  if (system === 'parley' && score.empty.length > 0)
    console.log(`\nparley found nothing for: ${score.empty.join(' · ')}`)
}

const isBeaten = rows.some(({ group, half, system, score }) => {
  const ours = rows.find((row) => row.system === 'parley' && row.group === group && row.half === half)?.score
  if (ours === undefined || system === 'parley') return score.empty.length > 0
  return score.recall >= ours.recall || score.ndcg >= ours.ndcg
})
if (isBeaten) {
  console.error('\nAnother system is as good somewhere, or nothing was found.')
  process.exitCode = 1
}
