/** What a tab keeps over a reload: drafts, folds, places; and what a browser keeps longer. No credential is ever here. */

export function keep(key: string, value: unknown): void {
  try {
    if (value === undefined || value === '') sessionStorage.removeItem(`parley.${key}`)
    else sessionStorage.setItem(`parley.${key}`, JSON.stringify(value))
  } catch {
    // There is no room, or none is allowed: then it lasts as long as the page.
  }
}

export function kept(key: string): unknown {
  try {
    const text = sessionStorage.getItem(`parley.${key}`)
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Empty for what is no text. */
export function keptText(key: string): string {
  const value = kept(key)
  return typeof value === 'string' ? value : ''
}

/** For all tabs, until it is forgotten. */
export function keepLong(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(`parley.${key}`)
    else localStorage.setItem(`parley.${key}`, JSON.stringify(value))
  } catch {
    // There is no room, or none is allowed.
  }
}

export function keptLong(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(`parley.${key}`) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
