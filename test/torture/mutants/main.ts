/** `npm run torture:mcp -- --mutants`: takes one remedy after another out of the MCP host and sees whether its test notices. */
import { mutants as every } from './every-mutant.ts'
import type { Mutant } from './mutant.ts'
import { openBed, type Bed, type Verdict } from './play.ts'

export interface Wish {
  /** Only mutants of such rows, files or tests. */
  readonly only: string | undefined
  readonly jobs: number
}

/** True when all were noticed, and no test fails without a mutant. */
export async function playMutants({ only, jobs }: Wish): Promise<boolean> {
  const chosen = every.filter((one) => only === undefined || wordsOf(one).includes(only))
  const waiting = [...chosen.entries()]
  const verdicts: Verdict[] = []
  const sound = new Map<string, Promise<Verdict>>()
  const beds: Bed[] = []

  async function work(): Promise<void> {
    const bed = openBed()
    beds.push(bed)
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, mutant] = next
      const key = JSON.stringify(mutant.test)
      const whole = sound.get(key) ?? bed.play(mutant.test)
      sound.set(key, whole)
      const verdict = (await whole) === 'survived' ? await bed.play(mutant.test, mutant) : 'broken'
      verdicts[index] = verdict
      if (verdict !== 'noticed') console.log(`${verdict}: ${wordsOf(mutant)}`)
    }
  }

  try {
    await Promise.all(Array.from({ length: jobs }, work))
  } finally {
    for (const bed of beds) bed.close()
  }
  const noticed = verdicts.filter((one) => one === 'noticed').length
  const tests = new Set(chosen.map(({ test }) => test.join()))
  const files = new Set(chosen.map(({ file }) => file))
  console.log(`${noticed} of ${chosen.length} mutants in ${files.size} files were noticed, by ${tests.size} tests`)
  return noticed === chosen.length
}

function wordsOf({ rows, file, from, test }: Mutant): string {
  return `${rows} | ${file} without ${from.split('\n', 1)[0]?.trim()} | ${test.join(': ')}`
}
