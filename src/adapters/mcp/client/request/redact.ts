/** Removes the secrets of a server's configuration from messages about the server. */
import type { McpServer } from '../../../../ports/tools.ts'

/** Shorter values are switches and numbers; hiding them would make sentences unreadable. */
const MIN_SECRET_CHARS = 4
const HIDDEN = '[hidden]'
const MAX_MESSAGE_CHARS = 300

export type Redact = (text: string) => string

/** Returns a function that shortens text to one line without any value of `env`, of a header, or of the URL's query. */
export function redactor(server: McpServer): Redact {
  const secrets = [...new Set(secretsOf(server).flatMap(formsOf))].filter((secret) => secret.length >= MIN_SECRET_CHARS)
  // The longest first, because one secret may be part of another.
  secrets.sort((one, other) => other.length - one.length)
  return (text) => {
    const safe = secrets.reduce((said, secret) => said.replaceAll(secret, HIDDEN), text)
    const line = safe.replace(/\s+/g, ' ').trim()
    return line.length <= MAX_MESSAGE_CHARS ? line : `${line.slice(0, MAX_MESSAGE_CHARS)}…`
  }
}

function secretsOf(server: McpServer): readonly string[] {
  if (server.type === 'stdio') return Object.values(server.env).flatMap(partsOf)
  return [...server.headers.flatMap(([, value]) => partsOf(value)), ...secretsOfUrl(server.url)]
}

/** A value may contain the secret after a scheme such as `Bearer`, or be quoted line by line. */
function partsOf(value: string): readonly string[] {
  return [value, value.trim(), ...value.split(/\s+/), ...credentialsIn(value)]
}

/** User name and password of HTTP basic authentication. */
function credentialsIn(value: string): readonly string[] {
  const [, packed] = /^\s*basic\s+([\w+/=-]+)\s*$/iu.exec(value) ?? []
  if (packed === undefined) return []
  const credentials = Buffer.from(packed, 'base64').toString('utf8')
  return [credentials, credentials.slice(credentials.indexOf(':') + 1)]
}

/** The secret as it is, and as it is written in JSON, in a URL and in a form: servers quote their input in errors. */
function formsOf(secret: string): readonly string[] {
  const whole = secret.replaceAll(/\p{Surrogate}/gu, '\uFFFD')
  const inUrl = encodeURIComponent(whole)
  const inForm = new URLSearchParams([['', whole]]).toString().slice(1)
  return [secret, JSON.stringify(secret).slice(1, -1), inUrl, inUrl.toLowerCase(), inForm]
}

/** Includes the path, where some services put their key. */
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

/** Text that is not valid percent-encoding stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The URL of a server without the parts that may be secret. */
export function serverOrigin(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : 'its address'
}
