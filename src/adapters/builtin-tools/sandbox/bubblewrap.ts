/** The arguments of bubblewrap: the files that a command may see and write inside the sandbox. Pure. */
import { isAbsolute } from 'node:path'
import { isWithin } from '../../../path-rules/path-rules.ts'

export interface Enclosure {
  /** The directories of the session: the only ones that may be written, besides a private /tmp. Absolute and without links. */
  readonly roots: readonly string[]
  readonly cwd: string
  /** Whether it reaches the network of this machine. */
  readonly network: boolean
  /** Directories and files that it must not see. Only such as exist; absolute and without links. */
  readonly hidden: Hidden
  /**
   * Of the roots: files and directories that decide what runs outside of the sandbox. Only such as exist, without links:
   * bubblewrap would make what is missing, and it would stay.
   */
  readonly kept: readonly string[]
}

export interface Hidden {
  readonly directories: readonly string[]
  readonly files: readonly string[]
}

/** Below the home directory: where programs keep keys, tokens and passwords. */
export const SECRET_PLACES: readonly string[] = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.config/git/credentials',
  '.config/op',
  '.git-credentials',
  '.local/share/keyrings',
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
  '.netrc',
  '.npmrc',
  '.password-store',
  '.pypirc',
  '.vault-token',
]

/** Namespaces of its own, no rights, and an end with bubblewrap itself. */
const ALONE = words(
  '--die-with-parent --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-user-try',
)
/** Everything can be read; `/tmp` is private. */
const READ_ONLY = words('--cap-drop ALL --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --setenv TMPDIR /tmp')
/** Without the sockets of other programs, which would do outside what they are asked inside; names are still looked up. */
const NO_SOCKETS = words(
  '--tmpfs /run --ro-bind-try /run/systemd/resolve /run/systemd/resolve --ro-bind-try /run/current-system /run/current-system',
)

/**
 * Everything is readable and nothing writable. Then hidden paths are covered, and writable paths are mounted over that.
 * Hidden paths inside of a root come last. Every process ends with bubblewrap, even if it has left its process group.
 */
export function sandboxArguments({ roots, cwd, network, hidden, kept }: Enclosure): readonly string[] {
  const holdsRoot = (place: string) => roots.some((root) => isWithin(root, place))
  // A git directory elsewhere is not written anyway, and must not be laid over what hides it.
  const inRoot = (place: string) => roots.some((root) => isWithin(place, root))
  const above = hidden.directories.filter((place) => holdsRoot(place) && !roots.includes(place))
  const elsewhere = hidden.directories.filter((place) => !holdsRoot(place))
  return [
    ...ALONE,
    ...(network ? [] : ['--unshare-net']),
    ...READ_ONLY,
    ...NO_SOCKETS,
    ...above.flatMap((place) => ['--tmpfs', place]),
    ...byDepth(roots).flatMap((root) => twice('--bind', root)),
    ...byDepth(kept.filter(inRoot)).flatMap((place) => twice('--ro-bind', place)),
    ...elsewhere.flatMap((place) => ['--tmpfs', place]),
    ...hidden.files.flatMap((file) => ['--ro-bind', '/dev/null', file]),
    '--chdir',
    cwd,
  ]
}

function words(text: string): readonly string[] {
  return text.split(' ')
}

function twice(option: string, place: string): readonly string[] {
  return [option, place, place]
}

/** A directory inside of another is laid over it. */
function byDepth(places: readonly string[]): readonly string[] {
  return places.filter(isAbsolute).toSorted((one, other) => one.length - other.length)
}
