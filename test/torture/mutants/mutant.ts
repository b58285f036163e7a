/** What a mutant of the MCP host is: its sources with one remedy taken out. */

export interface Mutant {
  /** The rows of the requirements that the remedy is there for. */
  readonly rows: string
  /** Where the remedy stands, below `src/`. */
  readonly file: string
  /** What stands there once and nowhere else in the file, and what stands there without the remedy. */
  readonly from: string
  readonly to: string
  /** A test file, and what the names of the tests hold one of which must fail. */
  readonly test: readonly [file: string, name: string]
}

const TORTURE = 'test/torture'
const TOOLS = 'adapters/tools'

export const stdio = (name: string): Mutant['test'] => [`${TORTURE}/stdio.test.ts`, name]
export const http = (name: string): Mutant['test'] => [`${TORTURE}/http.test.ts`, name]
export const newest = (name: string): Mutant['test'] => [`${TORTURE}/http-newest.test.ts`, name]
export const lists = (name: string): Mutant['test'] => [`${TORTURE}/list.test.ts`, name]
export const calls = (name: string): Mutant['test'] => [`${TORTURE}/call.test.ts`, name]
export const host = (file: string, name: string): Mutant['test'] => [`src/${TOOLS}/${file}`, name]

/** Mutants of one file: rows, what stands there, what stands there instead, and the test that must notice. */
export function inFile(
  file: string,
  changes: readonly (readonly [rows: string, from: string, to: string, test: Mutant['test']])[],
): readonly Mutant[] {
  return changes.map(([rows, from, to, test]) => ({ rows, file: `${TOOLS}/${file}`, from, to, test }))
}
