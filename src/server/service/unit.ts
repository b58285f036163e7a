/** The server as a service of the user: the unit files for systemd or launchd, and where they are written. */
import { join } from 'node:path'
import { NODE_ENVIRONMENT, NODE_FLAGS } from '../launch/launch.ts'

/** Facts about this machine that the unit file depends on. */
export interface ServiceFacts {
  readonly platform: NodeJS.Platform
  /** The user's own directory. */
  readonly home: string
  readonly uid: number
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The path of Node. */
  readonly node: string
  /** The path of `bin/parley.mjs`. */
  readonly program: string
  /** The state directory. */
  readonly state: string
  /** `config.socket`. */
  readonly socket: string
}

export interface UnitFile {
  readonly path: string
  readonly text: string
}

export interface ServiceUnit {
  readonly manager: 'systemd' | 'launchd'
  /** The first one is that of the server. */
  readonly files: readonly [UnitFile, ...(readonly UnitFile[])]
  /** Run in order, once the files are there. */
  readonly start: readonly (readonly string[])[]
  /** Run in order, before the files are removed. */
  readonly stop: readonly (readonly string[])[]
  /** Succeeds while it runs. */
  readonly probe: readonly string[]
}

const LABEL = 'parley'
/** How long running turns may still take when the service is stopped or replaced by another version. */
const GRACE_SECONDS = 60

/** The systemd unit that listens on the server's socket. */
export const SOCKET_UNIT = `${LABEL}.socket`

type Environment = ServiceFacts['environment']

/** Of systemd, for this user. */
export function unitDirectory(environment: Environment, home: string): string {
  return join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'systemd', 'user')
}

/** Undefined on a system that has neither. */
export function serviceUnit(facts: ServiceFacts): ServiceUnit | undefined {
  if (facts.platform === 'linux') return systemdUnit(facts)
  return facts.platform === 'darwin' ? launchdUnit(facts) : undefined
}

/**
 * systemd listens on the server's socket itself: clients that come while the server is replaced or starts again wait instead
 * of starting one of their own.
 */
function systemdUnit({ home, environment, node, program, state, socket }: ServiceFacts): ServiceUnit {
  const service = `${LABEL}.service`
  const socketUnit = SOCKET_UNIT
  const directory = unitDirectory(environment, home)
  const systemctl = (...words: readonly string[]) => ['systemctl', '--user', ...words]
  // Also run when the server has ended by itself; a connection would start it again then.
  const stop = [node, program, 'stop', '--grace', String(GRACE_SECONDS)]
  const variables = Object.entries({ PARLEY_HOME: state, ...NODE_ENVIRONMENT })
  return {
    manager: 'systemd',
    files: [
      {
        path: join(directory, service),
        text: `[Unit]
Description=Parley, the session server for AI agents
Requires=${socketUnit}
After=${socketUnit}

[Service]
ExecStart=${[node, ...NODE_FLAGS, program, 'serve'].map(commandWord).join(' ')}
ExecStop=/bin/sh -c ${commandWord('[ -z "$MAINPID" ] || exec "$@"')} sh ${stop.map(commandWord).join(' ')}
${variables.map(([name, value]) => `Environment=${unitWord(`${name}=${value}`)}`).join('\n')}
TimeoutStopSec=${GRACE_SECONDS + 60}
KillMode=mixed
Restart=on-failure
RestartSec=1

[Install]
Also=${socketUnit}
WantedBy=default.target
`,
      },
      {
        path: join(directory, socketUnit),
        text: `[Unit]
Description=The socket of Parley, the session server for AI agents

[Socket]
ListenStream=${socket.replaceAll('%', '%%')}
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
`,
      },
    ],
    start: [systemctl('daemon-reload'), systemctl('enable', service), systemctl('restart', socketUnit, service)],
    stop: [systemctl('disable', '--now', socketUnit, service)],
    probe: systemctl('is-active', '--quiet', service),
  }
}

/** Quoted, for a path may have blanks; `%` and `$` mean something to systemd. */
function unitWord(word: string): string {
  const plain = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')
  return `"${plain}"`
}

/** Variables are put in only where a command stands. */
function commandWord(word: string): string {
  return unitWord(word).replaceAll('$', '$$$$')
}

function launchdUnit({ home, uid, node, program, state }: ServiceFacts): ServiceUnit {
  const path = join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`)
  const text = (value: string) => `<string>${escaped(value)}</string>`
  return {
    manager: 'launchd',
    files: [
      {
        path,
        text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${text(LABEL)}
  <key>ProgramArguments</key>
  <array>${[node, ...NODE_FLAGS, program, 'serve'].map(text).join('')}</array>
  <key>EnvironmentVariables</key>
  <dict><key>PARLEY_HOME</key>${text(state)}</dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key>
  <dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>${GRACE_SECONDS}</integer>
</dict>
</plist>
`,
      },
    ],
    start: [['launchctl', 'bootstrap', `gui/${uid}`, path]],
    stop: [['launchctl', 'bootout', `gui/${uid}/${LABEL}`]],
    probe: ['launchctl', 'print', `gui/${uid}/${LABEL}`],
  }
}

function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
