/** The environment of child processes on Windows, where names of variables have no case. */
import { MARKER } from '../environment.ts'
import { absoluteFolders } from './find-command.ts'

/** Variables that programs need to find Windows, the user and the network. None of them usually contains a key. */
const ALLOWED: ReadonlySet<string> = new Set([
  'ALLUSERSPROFILE',
  'APPDATA',
  'COMMONPROGRAMFILES',
  'COMMONPROGRAMFILES(X86)',
  'COMPUTERNAME',
  'COMSPEC',
  'HOME',
  'HOMEDRIVE',
  'HOMEPATH',
  'LANG',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PUBLIC',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'TZ',
  'USERDOMAIN',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
])

type Variables = Readonly<Record<string, string | undefined>>

interface EnvironmentOptions {
  readonly added: Readonly<Record<string, string>>
  readonly marker: string
}

/** The whole environment of one child; each name in upper case, once. */
export function windowsEnvironment(ours: Variables, { added, marker }: EnvironmentOptions): Record<string, string> {
  const inherited = upperCase(ours).filter(([name]) => ALLOWED.has(name) || name.startsWith('LC_'))
  const all = Object.fromEntries([...inherited, ...upperCase(added)])
  const path = absoluteFolders(all['PATH']).join(';')
  return { ...all, ...(path !== '' && { PATH: path }), [MARKER]: marker }
}

function upperCase(variables: Variables): readonly (readonly [string, string])[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toUpperCase(), value] as const],
  )
}
