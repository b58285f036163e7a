/** The result of one check of `parley doctor`. */

export interface Finding {
  /** The checked thing, in a word or two. */
  readonly what: string
  readonly state: 'ok' | 'note' | 'problem'
  /** How it is. */
  readonly says: string
  /** How the user can fix the problem. */
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
