/** `npm run conformance -- page`: the page's readers of Markdown, titles and terminal output against mutations of hostile text. */
import { parseArgs } from 'node:util'
import { chance, faultIn, mutated } from './hostile-corpus.ts'

const USAGE = `npm run conformance -- page [--mutations N] [--seed S]
  --mutations  how many texts (100000)
  --seed       of the texts (random)`

const { values } = parseArgs({
  options: {
    mutations: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function main(): number {
  if (values.help) {
    console.log(USAGE)
    return 0
  }
  const count = Number(values.mutations)
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed)
  const upTo = chance(seed)
  let [faulty, slowest] = [0, { ms: 0, text: '' }]
  for (let number = 0; number < count; number += 1) {
    const text = mutated(upTo)
    const began = performance.now()
    const fault = faultIn(text, upTo)
    const ms = performance.now() - began
    if (ms > slowest.ms) slowest = { ms, text }
    if (fault === undefined) continue
    faulty += 1
    if (faulty <= 20) console.log(`${fault}: ${JSON.stringify(text)}`)
  }
  console.log(
    `${count} mutations, seed ${seed}: ${faulty} faulty. The slowest took ${slowest.ms.toFixed(0)} ms: ${JSON.stringify(slowest.text.slice(0, 80))}`,
  )
  return faulty === 0 ? 0 : 1
}

process.exitCode = main()
