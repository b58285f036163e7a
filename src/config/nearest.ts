/** Suggests the known word that a user probably meant by an unknown one. */

/** Longer words are not compared: that takes time, and they are hardly misspelt settings. */
const MAX_LENGTH = 40

/** `; perhaps KNOWN is meant`, to stand behind why a key is refused; empty where no known word is like it. */
export function perhapsMeant(word: string, known: readonly string[]): string {
  const meant = nearest(word, known)
  return meant === undefined ? '' : `; perhaps ${meant} is meant`
}

function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined
  const [best] = known
    .map((name) => ({ name, steps: distance(word.toLowerCase(), name) }))
    .sort((one, other) => one.steps - other.steps)
  return best !== undefined && best.steps <= 2 && best.steps < word.length ? best.name : undefined
}

/** Letters that are missing, too many or others. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1]
    for (const [column, wanted] of [...other].entries()) {
      const changed = (row[column] ?? 0) + (letter === wanted ? 0 : 1)
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
