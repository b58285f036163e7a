/** Mechanisms taken out one by one, each against the test that holds it, and what came of it as a table to read. */
import { type Mutant, misfit } from './mutant.ts'
import { type Outcome, Workshop, root } from './workshop.ts'

export interface Tried {
  readonly mutant: Mutant
  /** `caught`: its test passes with the mechanism and fails without. */
  readonly verdict: 'caught' | 'SURVIVED' | 'UNCLEAR'
  readonly why?: string
}

interface Series {
  /** How many at a time; each has a copy of the sources of its own. */
  readonly jobs: number
  readonly only?: string | undefined
  /** Their tests need nothing that is built. */
  readonly fromSource?: boolean
}

/** Prints a line for each and the sum; gives the exit code. */
export async function reportMutants(all: readonly Mutant[], { only = '', ...how }: Series): Promise<number> {
  const chosen = all.filter(({ mechanism, file }) => `${mechanism} ${file}`.includes(only))
  const tried = await tryAll(chosen, how)
  const caught = tried.filter(({ verdict }) => verdict === 'caught').length
  console.log(`\n${caught} of ${tried.length} mechanisms are missed by their test when they are taken out`)
  return tried.length > 0 && caught === tried.length ? 0 : 1
}

async function tryAll(
  mutants: readonly Mutant[],
  { jobs, fromSource }: Omit<Series, 'only'>,
): Promise<readonly Tried[]> {
  const tried: Tried[] = []
  const sound = new Map<string, Promise<Outcome>>()
  const next = mutants.values()
  const work = async (): Promise<void> => {
    const workshop = new Workshop({ fromSource })
    try {
      for (const mutant of next) {
        const one = await tryOne(mutant, workshop, sound)
        tried.push(one)
        console.log(sentence(one))
      }
    } finally {
      workshop.close()
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, mutants.length) }, work))
  return tried
}

/** A test that fails anyway proves nothing, so each is run once with everything in place. */
async function tryOne(mutant: Mutant, workshop: Workshop, sound: Map<string, Promise<Outcome>>): Promise<Tried> {
  const unfit = misfit(root, mutant)
  if (unfit !== undefined) return { mutant, verdict: 'UNCLEAR', why: unfit }
  const before = await inPlace(mutant, workshop, sound)
  if (before.is !== 'passed') return { mutant, verdict: 'UNCLEAR', why: whyOf(before) }
  const after = await workshop.try(mutant)
  if (after.is === 'unclear') return { mutant, verdict: 'UNCLEAR', why: after.why }
  return { mutant, verdict: after.is === 'failed' ? 'caught' : 'SURVIVED' }
}

/** Where nothing has to be built a whole file costs little more than one test of it, and says the same of all of them. */
async function inPlace({ test }: Mutant, workshop: Workshop, sound: Map<string, Promise<Outcome>>): Promise<Outcome> {
  const [file] = test
  const once = (key: string, name: string): Promise<Outcome> => {
    const known = sound.get(key) ?? workshop.run([file, name])
    sound.set(key, known)
    return known
  }
  const whole = workshop.fromSource ? await once(file, '') : undefined
  return whole?.is === 'passed' ? whole : await once(test.join(' '), test[1])
}

function whyOf(outcome: Outcome): string {
  return 'why' in outcome ? outcome.why : 'its test fails with everything in place'
}

function sentence({ mutant: { mechanism, file, test }, verdict, why }: Tried): string {
  const more = why === undefined ? '' : `\n    ${why}`
  return `${verdict.padEnd(8)}  ${mechanism}\n    ${file} | ${test[0]}: ${test[1]}${more}`
}
