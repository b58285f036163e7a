/** Regular expressions from untrusted forms: used only where matching cannot take long. */

/** Steps that a match may take at worst. */
const MAX_MATCH_STEPS = 10_000_000

export function regularExpression(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    // It is not a regular expression of this language.
    return undefined
  }
}

/** True also for what would take too long to say: the client that showed the form has the first word on it. */
export function matches(text: string, pattern: string): boolean {
  const expression = regularExpression(pattern)
  return expression === undefined || stepsAtWorst(text, pattern) > MAX_MATCH_STEPS || expression.test(text)
}

/**
 * Each quantifier may try every length, from every place; each alternative and each `?` doubles the ways at most. A quantifier
 * around a group may try them all, and so may a reference back.
 */
function stepsAtWorst({ length }: string, pattern: string): number {
  const bare = pattern
    .replace(/\\./gu, '.')
    .replace(/\[[^\]]*\]/gu, '.')
    .replace(/\(\?(?:[:=!]|<[=!]|<[^>]*>)/gu, '(')
  if (/\)[*+{]/u.test(bare) || /\\[1-9k]/u.test(pattern)) return Number.POSITIVE_INFINITY
  const quantifiers = bare.match(/[*+{]/gu)?.length ?? 0
  const choices = bare.match(/[|?]/gu)?.length ?? 0
  return Math.max(length, 2) ** (quantifiers + 1) * 2 ** choices
}
