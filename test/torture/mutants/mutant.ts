/** Mutants of the MCP host as its tables write them: what stands in a file of the tools, and the torture test that misses it. */
import type { Mutant } from '../../mutants/mutant.ts'

export type { Mutant }

type TestName = Mutant['test']

const of =
  (file: string) =>
  (name: string): TestName => [file, name]

export const stdio = of('test/torture/stdio.test.ts')
export const http = of('test/torture/http.test.ts')
export const sse = of('test/torture/sse.test.ts')
export const newest = of('test/torture/http-newest.test.ts')
export const lists = of('test/torture/list.test.ts')
export const calls = of('test/torture/call.test.ts')

export const spawning = of('src/adapters/process/spawn.test.ts')

/** Of one file: the rows of the requirements, what stands there once, what stands there without the remedy, and the test. */
export function inFile(
  file: string,
  changes: readonly (readonly [rows: string, text: string, by: string, test: TestName])[],
): readonly Mutant[] {
  return changes.map(([rows, text, by, test]) => ({
    mechanism: `${rows}: ${text.trim().split('\n', 1)[0]}`,
    file: `src/${file}`,
    text,
    by,
    test,
  }))
}

/** Whom it is for: `S6 G10` of `S6 G10: …`. */
export function rowsOf({ mechanism }: Mutant): readonly string[] {
  return mechanism.slice(0, mechanism.indexOf(':')).split(' ')
}
