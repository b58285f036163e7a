/** How a case can end. */

export type Verdict =
  | { readonly result: 'pass' }
  | { readonly result: 'fail'; readonly why: string }
  /** The agent does not say that it can, and need not. */
  | { readonly result: 'not offered'; readonly why: string }
  /** It cannot be tried here. */
  | { readonly result: 'n.a.'; readonly why: string }

/** The agent did not do what the talk of a case needs. */
export class Fault extends Error {}

export class NotOffered extends Error {}

export class NotApplicable extends Error {}

export function verdictOf(error: unknown): Verdict {
  const why = error instanceof Error ? error.message : String(error)
  if (error instanceof NotOffered) return { result: 'not offered', why }
  if (error instanceof NotApplicable) return { result: 'n.a.', why }
  return { result: 'fail', why }
}
