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

/** Of a path of the server, which may run on Windows: `C:\a b` is `file:///C:/a%20b`, and `\\host\a` is `file://host/a`. */
export function fileUrl(path: string): string {
  const [, share, drive] = /^(?:(\\\\)|([A-Za-z]:)[\\/])/u.exec(path) ?? []
  if (share === undefined && drive === undefined) return `file://${encodedPath(path)}`
  const rest = path.slice(2).replaceAll('\\', '/')
  return share === undefined ? `file:///${drive}${encodedPath(rest)}` : `file://${encodedPath(rest)}`
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
