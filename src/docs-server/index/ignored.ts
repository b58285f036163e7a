/** Which paths the ignore files of a directory tree leave out, as git and ripgrep read them. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { LONGEST_IGNORE_FILE, usableRules } from '../../text/ignore-rules.ts'

/** The rules of one directory; `base` is its path from the root, with `/` at the end unless it is the root. */
interface Rules {
  readonly base: string
  readonly ignore: Ignore
}

/** From the root down. Of two that speak about a path, the nearer one counts, and in one directory `.ignore`. */
export type IgnoreRules = readonly Rules[]

const FILES = ['.gitignore', '.ignore']
const NEVER = new Set(['.git', 'node_modules'])

/** The rules for what lies directly in a directory, given those for the directory itself. */
export async function rulesIn(root: string, base: string, above: IgnoreRules): Promise<IgnoreRules> {
  const own: Rules[] = []
  for (const name of FILES) {
    const text = await readIfThere(join(root, base, name))
    if (text !== undefined) own.push({ base, ignore: ignore().add(usableRules(text)) })
  }
  return own.length === 0 ? above : [...above, ...own]
}

/** `path` is relative to the root; a directory's ends with `/`. */
export function isIgnored(path: string, name: string, rules: IgnoreRules): boolean {
  if (NEVER.has(name)) return true
  for (const { base, ignore } of rules.toReversed()) {
    const { ignored, unignored } = ignore.test(path.slice(base.length))
    if (ignored || unignored) return ignored
  }
  return false
}

/** A pipe would be waited for, a device has no end, and a link leads to a file that nobody meant as rules. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    try {
      const found = await file.stat()
      return found.isFile() && found.size <= LONGEST_IGNORE_FILE ? await file.readFile('utf8') : undefined
    } finally {
      await file.close()
    }
  } catch {
    // Most directories have none; one that cannot be read has nothing to say either.
    return undefined
  }
}
