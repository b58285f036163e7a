/** What one look has found. */

export interface Finding {
  /** What was looked at, in a word or two. */
  readonly what: string
  readonly state: 'ok' | 'note' | 'problem'
  /** How it is. */
  readonly says: string
  /** What ends a problem. */
  readonly remedy?: string
}

export function ok(what: string, says: string): Finding {
  return { what, state: 'ok', says }
}

/** Worth knowing, and nothing to be mended. */
export function note(what: string, says: string): Finding {
  return { what, state: 'note', says }
}

export function problem(what: string, says: string, remedy: string): Finding {
  return { what, state: 'problem', says, remedy }
}
