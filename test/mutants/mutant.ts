/** A mechanism of ours taken out: how the syntax tree is patched, and the test that must then fail. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Patch, patched } from './syntax-patch.ts'

export type Mutant = Patch & {
  /** What is broken, in the words of a reader. */
  readonly mechanism: string
  readonly file: string
  /** What is run, its own name, and where that is written if not there. */
  readonly test: readonly [file: string, name: string, writtenIn?: string]
}

/** `at`: the file and the declaration in it. Without `put` what is found is taken out. */
interface Given {
  readonly at: readonly [file: string, inside: string]
  readonly find?: string
  /** A piece of a string instead. */
  readonly findText?: string
  readonly put?: string
  readonly test: Mutant['test']
}

export function mutant(mechanism: string, { at: [file, inside], find = '', findText, put = '', test }: Given): Mutant {
  const found = findText === undefined ? { find } : { findText }
  return { mechanism, file, inside, ...found, put, test }
}

/** Why it can no longer be made: its place in the source or its test is gone. Undefined when it can. */
export function misfit(root: string, mutant: Mutant): string | undefined {
  const { file, test } = mutant
  const [testFile, name, writtenIn = testFile] = test
  const result = patched(textOf(root, file), mutant)
  if ('why' in result) return `${file}: ${result.why}`
  return textOf(root, writtenIn).includes(name) ? undefined : `${writtenIn} has no longer a test “${name}”`
}

/** The source with the mechanism taken out. Throws when it does not fit. */
export function spoilt(source: string, mutant: Mutant): string {
  const result = patched(source, mutant)
  if ('why' in result) throw new Error(`${mutant.file}: ${result.why}`)
  return result.text
}

function textOf(root: string, file: string): string {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch {
    // A file that has moved has no longer what is looked for.
    return ''
  }
}
