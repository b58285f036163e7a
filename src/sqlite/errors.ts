/** Classifies errors of SQLite. The library gives a result code with some errors and only SQLite's fixed words with others. */
const CODES = { busy: 5, corrupt: 11, full: 13, tooBig: 18, constraint: 19, notADatabase: 26 } as const

export type SqliteProblem = keyof typeof CODES

const WORDS: ReadonlyMap<string, SqliteProblem> = new Map([
  ['database is locked', 'busy'],
  ['database disk image is malformed', 'corrupt'],
  ['database or disk is full', 'full'],
  ['file is not a database', 'notADatabase'],
])

/** Undefined for an error that is not of SQLite, or not one of these. */
export function sqliteProblem(error: unknown): SqliteProblem | undefined {
  const { errcode, message } = (error ?? {}) as { readonly errcode?: unknown; readonly message?: unknown }
  // Extended result codes carry the primary one in their low byte.
  if (typeof errcode === 'number') return PROBLEMS.find((problem) => CODES[problem] === (errcode & 0xff))
  return typeof message === 'string' ? WORDS.get(message) : undefined
}

const PROBLEMS = Object.keys(CODES) as readonly SqliteProblem[]

/** SQLite needs a file beside the database and cannot create or extend it, or the database itself cannot be written. */
export function isUnwritable(error: unknown): boolean {
  return error instanceof Error && /unable to open|disk I\/O error|readonly|is full/u.test(error.message)
}
