/** Takes the secrets of a server's configuration out of whatever is said about it. */
import type { McpServer } from '../../../../ports/tools.ts'

/** Shorter values are switches and numbers; hiding them would only make sentences unreadable. */
const SHORTEST = 4
const HIDDEN = '[hidden]'
const LONGEST = 300

export type Redact = (text: string) => string

/** One line of bounded length without any value of `env`, of a header, or of the URL's query. */
export function redactor(server: McpServer): Redact {
  const secrets = [...new Set(secretsOf(server).flatMap(formsOf))].filter((secret) => secret.length >= SHORTEST)
  // The longest first: one secret may be part of another.
  secrets.sort((one, other) => other.length - one.length)
  return (text) => {
    const safe = secrets.reduce((said, secret) => said.replaceAll(secret, HIDDEN), text)
    const line = safe.replace(/\s+/g, ' ').trim()
    return line.length <= LONGEST ? line : `${line.slice(0, LONGEST)}…`
  }
}

function secretsOf(server: McpServer): readonly string[] {
  if (server.type === 'stdio') return Object.values(server.env).flatMap(partsOf)
  return [...server.headers.flatMap(([, value]) => partsOf(value)), ...secretsOfUrl(server.url)]
}

/** A value may hold the secret behind a scheme, or be quoted line by line. */
function partsOf(value: string): readonly string[] {
  return [value, value.trim(), ...value.split(/\s+/), ...credentialsIn(value)]
}

/** A name and a password, as HTTP packs them. */
function credentialsIn(value: string): readonly string[] {
  const [, packed] = /^\s*basic\s+([\w+/=-]+)\s*$/iu.exec(value) ?? []
  if (packed === undefined) return []
  const credentials = Buffer.from(packed, 'base64').toString('utf8')
  return [credentials, credentials.slice(credentials.indexOf(':') + 1)]
}

/** As it is, and as it stands in JSON, in a URL and in a form: servers quote what they complain of. */
function formsOf(secret: string): readonly string[] {
  const whole = secret.replaceAll(/\p{Surrogate}/gu, '\uFFFD')
  const inUrl = encodeURIComponent(whole)
  const inForm = new URLSearchParams([['', whole]]).toString().slice(1)
  return [secret, JSON.stringify(secret).slice(1, -1), inUrl, inUrl.toLowerCase(), inForm]
}

/** The path counts as well: some services put their key there. */
function secretsOfUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return [text]
  const url = new URL(text)
  const raw = url.search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
  const keys = url.pathname.split('/').filter((part) => part.length >= 16)
  const known = [url.username, url.password].flatMap((text) => [text, decoded(text)])
  return [url.search, ...raw, ...url.searchParams.values(), ...known, ...keys]
}

/** What is no encoding stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Where a server is, without the parts that may be secret. */
export function placeOf(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : 'its address'
}
