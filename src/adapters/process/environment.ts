/** The environment of child processes: an allow-list of ours, the configured variables, and a marker to find the process again. */
import { createHash } from 'node:crypto'

/** User, locale, paths and network settings. No variable that usually contains a key. */
const ALLOWED: ReadonlySet<string> = new Set([
  'HOME',
  'LOGNAME',
  'USER',
  'SHELL',
  'PATH',
  'TERM',
  'LANG',
  'TMPDIR',
  'TZ',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
])
const ALLOWED_PREFIXES = ['LC_', 'XDG_']

/** The variable that contains a child's marker. */
export const MARKER = 'PARLEY_CHILD'

/** The owner of a child: `home` is a short hash of the state directory, `id` is new at every start. */
export interface Boot {
  readonly home: string
  readonly id: string
}

/** The `home` of a boot. */
export function homeMark(home: string): string {
  return createHash('sha256').update(home).digest('hex').slice(0, 12)
}

export function markerOf(boot: Boot): string {
  return `${boot.home}-${boot.id}`
}

interface EnvironmentOptions {
  readonly cwd: string
  readonly added: Readonly<Record<string, string>>
  /** The owner's marker, followed by an id of this child and its descendants. */
  readonly marker: string
}

/** The whole environment of one child. It contains `PWD`, because the shell that starts the child would add its own. */
export function childEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  { cwd, added, marker }: EnvironmentOptions,
): Record<string, string> {
  return { ...allowed(ours), PWD: cwd, ...added, [MARKER]: marker }
}

function allowed(ours: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(ours)) {
    // Such a value is a function that an old shell exported; a child shell would run it.
    if (value !== undefined && isAllowed(name) && !value.startsWith('()')) kept[name] = value
  }
  const { PATH, ...others } = kept
  const path = withoutRelative(PATH ?? '')
  return path === '' ? others : { ...others, PATH: path }
}

/** A relative or empty entry would find programs in the child's directory, that is in the project. */
function withoutRelative(path: string): string {
  return path
    .split(':')
    .filter((directory) => directory.startsWith('/'))
    .join(':')
}

function isAllowed(name: string): boolean {
  return ALLOWED.has(name) || ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix))
}

/** The shell that starts a child silently drops variables with such names, so they are rejected. */
export function unpassableName(added: Readonly<Record<string, string>>): string | undefined {
  return Object.keys(added).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
}
