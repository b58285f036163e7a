/** The tool names that models see: valid for every provider, unique, and independent of which other servers are connected. */
import { createHash } from 'node:crypto'

/** The limit of model providers. */
const MAX_NAME_CHARS = 64
const MAX_SERVER_CHARS = 24
const SEPARATOR = '__'
const DIGITS = 12

/** Words with single underscores between them, so that the first `__` of a tool name ends the server's name. */
const PLAIN_SERVER = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/
const PLAIN_TOOL = /^[A-Za-z0-9_-]+$/
const LOOKS_HASHED = new RegExp(`_[0-9a-f]{${DIGITS}}$`)

/**
 * `server__tool`. A name that has to be changed gets a hash of both original names as a suffix, so that two names that look alike
 * afterwards still differ. An unchanged name never ends like such a suffix.
 */
export function registryName(server: string, tool: string): string {
  const plain = `${server}${SEPARATOR}${tool}`
  if (isPlain(server, tool) && plain.length <= MAX_NAME_CHARS && !LOOKS_HASHED.test(plain)) return plain
  const suffix = `_${hashOf(server, tool)}`
  const head = `${serverPart(server)}${SEPARATOR}${slug(tool)}`
  return head.slice(0, MAX_NAME_CHARS - suffix.length) + suffix
}

/** The beginning of the names of all tools of `server`. */
export function registryPrefix(server: string): string {
  return `${serverPart(server)}${SEPARATOR}`
}

/** Gives each server of the list a unique label; the first one of a name keeps it. */
export function serverLabels(names: readonly string[]): readonly string[] {
  const taken = new Set(names)
  const seen = new Set<string>()
  return names.map((name) => {
    const label = seen.has(name) ? nextFree(name, taken) : name
    taken.add(label)
    seen.add(label)
    return label
  })
}

function nextFree(name: string, taken: ReadonlySet<string>): string {
  for (let number = 2; ; number++) {
    const label = `${name} ${number}`
    if (!taken.has(label)) return label
  }
}

function isPlain(server: string, tool: string): boolean {
  return server.length <= MAX_SERVER_CHARS && PLAIN_SERVER.test(server) && PLAIN_TOOL.test(tool)
}

function serverPart(server: string): string {
  return slug(server).slice(0, MAX_SERVER_CHARS)
}

/** The name in the allowed characters; `x` when none is left. */
function slug(name: string): string {
  const letters = name.normalize('NFKD').replace(/\p{Mark}/gu, '')
  return letters.replace(/[^A-Za-z0-9-]+/g, '_').replace(/^_+|_+$/g, '') || 'x'
}

function hashOf(server: string, tool: string): string {
  return createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, DIGITS)
}
