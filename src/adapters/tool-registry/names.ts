/** The names under which a language model knows tools: legal everywhere, unique, and the same whoever else is connected. */
import { createHash } from 'node:crypto'

/** Providers of models refuse more. */
const LIMIT = 64
const SERVER_LIMIT = 24
const SEPARATOR = '__'
const DIGITS = 12

/** Words with single underscores between them: the first `__` of a name then says where its server's name ends. */
const PLAIN_SERVER = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/
const PLAIN_TOOL = /^[A-Za-z0-9_-]+$/
const LOOKS_HASHED = new RegExp(`_[0-9a-f]{${DIGITS}}$`)

/**
 * `server__tool`. Names that cannot stand as they are get a suffix made of both originals, so that two that look alike
 * afterwards still differ. A plain name never ends like such a suffix.
 */
export function registryName(server: string, tool: string): string {
  const plain = `${server}${SEPARATOR}${tool}`
  if (isPlain(server, tool) && plain.length <= LIMIT && !LOOKS_HASHED.test(plain)) return plain
  const suffix = `_${hashOf(server, tool)}`
  const head = `${serverPart(server)}${SEPARATOR}${slug(tool)}`
  return head.slice(0, LIMIT - suffix.length) + suffix
}

/** What the names of all tools of `server` begin with. */
export function registryPrefix(server: string): string {
  return `${serverPart(server)}${SEPARATOR}`
}

/** Each server gets a label that no other of the list has; the first of its name keeps it. */
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
  return server.length <= SERVER_LIMIT && PLAIN_SERVER.test(server) && PLAIN_TOOL.test(tool)
}

function serverPart(server: string): string {
  return slug(server).slice(0, SERVER_LIMIT)
}

/** What is left of a name in the letters that are allowed; `x` when nothing is. */
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
