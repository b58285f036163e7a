/** A mechanism of ours taken out: what to write in place of what, and the test that must then fail. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Mutant {
  /** What is broken, in the words of a reader. */
  readonly mechanism: string
  readonly file: string
  /** Stands in the file exactly once. */
  readonly text: string
  readonly by: string
  /** What is run, its own name, and where that is written if not there. */
  readonly test: readonly [file: string, name: string, writtenIn?: string]
}

/** Why it can no longer be made: its text or its test is gone. Undefined when it can. */
export function misfit(
  root: string,
  { file, text, test: [testFile, name, writtenIn = testFile] }: Mutant,
): string | undefined {
  const found = textOf(root, file).split(text).length - 1
  if (found !== 1) return `${file} has ${found === 0 ? 'no longer' : `${found} times`} ${JSON.stringify(text)}`
  return textOf(root, writtenIn).includes(name) ? undefined : `${writtenIn} has no longer a test “${name}”`
}

/** The source with the mechanism taken out. */
export function spoilt(source: string, { text, by }: Pick<Mutant, 'text' | 'by'>): string {
  // As a function: what stands for itself must not be read as a pattern.
  return source.replace(text, () => by)
}

function textOf(root: string, file: string): string {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch {
    // A file that has moved has no longer what is looked for.
    return ''
  }
}
