/** `npm run conformance -- fuzz [--inputs N | --seconds N] [--seed S] [--wave W]`: hostile input at a real server; a wave that failed plays again by its number. */
import { setup } from '../../build.setup.ts'
import { fuzz } from './fuzz.ts'

const args = process.argv.slice(2)
const after = (flag: string): number | undefined =>
  args.includes(flag) ? Number(args[args.indexOf(flag) + 1]) : undefined

await setup()
const seed = after('--seed') ?? Math.floor(Math.random() * 1_000_000)
const begun = performance.now()
const seconds = after('--seconds')
/** More than any time allows that somebody waits for. */
const MOST = 1_000_000
console.log(`seed ${seed}`)
const { inputs, crashes, hangs, lost, faults, peakMegabytes, megabytes } = await fuzz({
  inputs: after('--inputs') ?? (seconds === undefined ? 20_000 : MOST),
  deadline: seconds === undefined ? Infinity : begun + seconds * 1_000,
  seed,
  wave: after('--wave'),
  told: (line) => console.log(line),
})
for (const problem of [...crashes, ...hangs, ...lost, ...faults].slice(0, 40)) console.log(problem)
const took = Math.round((performance.now() - begun) / 1000)
console.log(
  `${inputs} inputs in ${took} s: ${crashes.length} crashes, ${hangs.length} hangs, ${lost.length} lost sessions, ${faults.length} other faults; at most ${peakMegabytes} MB, by quarters ${megabytes.join(', ')}`,
)
if (crashes.length + hangs.length + lost.length + faults.length > 0) {
  console.log(`again: npm run conformance -- fuzz --seed ${seed} --inputs ${inputs}, or one wave of it with --wave N`)
  process.exitCode = 1
}
