/** Removes secrets from a text that leaves this machine. In doubt, a text is removed. */

const REMOVED = '[removed]'

/** Names of variables, headers and settings whose values are secrets. */
const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie|session_?id|signature/iu

/** Secrets by their form, wherever they stand. */
const SECRET_FORMS = [
  /\b(?:sk|pk|ghp|gho|ghs|glpat|xox[abprs]|AKIA|AIza|hf|parley)[-_][\w-]{8,}/gu,
  /\b(?:AKIA|AIza)[\w-]{12,}/gu,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{6,}/giu,
  /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/gu,
  /(?<=:\/\/)[^\s/]+@/gu,
  /(?<=[?&#])[\w.-]+=[^\s&#"']+/gu,
  /-----BEGIN [^-]+-----[\s\S]*?-----END [^-]+-----/gu,
]

/** Shorter values are words that a text may have by chance. */
const SHORTEST = 5

export interface KnownSecrets {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The settings files as they are. Every quoted text of them is taken out, for any may be a secret. */
  readonly settings: readonly string[]
  /** The user's own directory. */
  readonly home: string
}

/** Takes out what it knows, and what looks like a secret. */
export function reportRedactor({ environment, settings, home }: KnownSecrets): (text: string) => string {
  const values = new Set(
    [...secretVariables(environment), ...settings.flatMap(quotedTexts)]
      .map((value) => value.trim())
      .filter((value) => value.length >= SHORTEST && value !== home),
  )
  // The longest first: one may be the beginning of another.
  const longest = [...values].toSorted((a, b) => b.length - a.length)
  return (text) => {
    const known = longest.reduce((left, value) => left.replaceAll(value, REMOVED), text)
    const formed = SECRET_FORMS.reduce((left, form) => left.replaceAll(form, REMOVED), known)
    return home.length > 1 ? formed.replaceAll(home, '~') : formed
  }
}

function secretVariables(environment: KnownSecrets['environment']): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && SECRET_NAME.test(name) ? [value] : [],
  )
}

/** Texts of TOML in any of its quotes; a long one also line by line, as a log may quote it. */
function quotedTexts(toml: string): readonly string[] {
  const quoted = [...toml.matchAll(/"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:\\.|[^"\\\n])*)"|'([^'\n]*)'/gu)]
  const texts = quoted.flatMap(([, ...all]) => all.flatMap((text: string | undefined) => text?.split('\n') ?? []))
  return [...texts, ...texts.flatMap(unescaped)]
}

/** As the settings have it once they are read. */
function unescaped(text: string): readonly string[] {
  if (!text.includes('\\')) return []
  try {
    return [String(JSON.parse(`"${text}"`))]
  } catch {
    // Escapes that only TOML knows.
    return []
  }
}
