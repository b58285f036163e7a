/** The regular expressions that lines of files are searched for. */
import { refuse } from '../toolset/result.ts'

export interface Pattern {
  readonly source: string
  readonly flags: string
}

/** Throws what is wrong with it. */
export function patternOf(
  text: string,
  { isLiteral, ignoresCase }: { isLiteral: boolean; ignoresCase: boolean },
): Pattern {
  const source = isLiteral ? text.replaceAll(/[.*+?^${}()|[\]\\/]/gu, '\\$&') : text
  const flags = ignoresCase ? 'iu' : 'u'
  const problem = problemOf({ source, flags })
  if (problem === undefined) return { source, flags }
  // Escapes that mean nothing are only forgiven without the `u`.
  const plain = { source, flags: flags.replace('u', '') }
  if (problemOf(plain) === undefined) return plain
  return refuse(
    `The pattern is no regular expression: ${problem}. Mend it, or set literal to look for the text as it is.`,
  )
}

function problemOf({ source, flags }: Pattern): string | undefined {
  try {
    RegExp(source, flags)
    return undefined
  } catch (error) {
    return (error as Error).message.replace(/^Invalid regular expression: /u, '')
  }
}
