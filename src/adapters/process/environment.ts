/** What a child sees of our environment: an allow-list, what its configuration adds, and the marker that finds it again. */

/** Who and where the user is, how to find programs and reach the network. Nothing that usually holds a key of ours. */
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

/** Where a child's marker stands in its environment. */
export const MARKER = 'PARLEY_CHILD'

/** Which owner a child belongs to: `home` is a short hash of the state directory, `id` is new with every start. */
export interface Boot {
  readonly home: string
  readonly id: string
}

export function markerOf(boot: Boot): string {
  return `${boot.home}-${boot.id}`
}

interface Surroundings {
  readonly cwd: string
  readonly added: Readonly<Record<string, string>>
  /** The owner's, and behind it what tells this child and all that comes of it from the others. */
  readonly marker: string
}

/** The whole environment of one child. `PWD` is named because the shell that starts it would add its own. */
export function childEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  { cwd, added, marker }: Surroundings,
): Record<string, string> {
  return { ...allowed(ours), PWD: cwd, ...added, [MARKER]: marker }
}

function allowed(ours: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(ours)) {
    // A value that starts like this is a function that an old shell exported; a child would run it.
    if (value !== undefined && isAllowed(name) && !value.startsWith('()')) kept[name] = value
  }
  const { PATH, ...others } = kept
  const path = withoutRelative(PATH ?? '')
  return path === '' ? others : { ...others, PATH: path }
}

/** A relative or empty entry would take programs from the directory where a child runs: from the project. */
function withoutRelative(path: string): string {
  return path
    .split(':')
    .filter((directory) => directory.startsWith('/'))
    .join(':')
}

function isAllowed(name: string): boolean {
  return ALLOWED.has(name) || ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix))
}

/** The shell that starts a child drops such names without a word, so we refuse them aloud. */
export function unpassableName(added: Readonly<Record<string, string>>): string | undefined {
  return Object.keys(added).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
}
