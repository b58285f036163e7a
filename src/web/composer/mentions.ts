/** Files that a draft names by an `@`. */

export interface Mention {
  /** What stands behind the `@`. */
  readonly name: string
  readonly path: string
}

/** Behind a name, these make it the name of another file: `@a.ts` is not named by `@a.tsx`, but by `See @a.ts.` */
const GOES_ON = /^\.?[\p{L}\p{N}_/\\~+-]/u

/** Those that the text still names. Pure. */
export function mentionedIn(text: string, chosen: readonly Mention[]): readonly Mention[] {
  return chosen.filter(({ name }) =>
    text
      .split(`@${name}`)
      .slice(1)
      .some((after) => !GOES_ON.test(after)),
  )
}
