/** The server as a service of the user: the unit file for systemd or launchd, and where it is written. */
import { join } from 'node:path'

/** What was found out about this machine. */
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
}

export interface ServiceUnit {
  readonly manager: 'systemd' | 'launchd'
  readonly path: string
  readonly text: string
  /** Run in order, once the file is there. */
  readonly start: readonly (readonly string[])[]
  /** Run in order, before the file is removed. */
  readonly stop: readonly (readonly string[])[]
  /** Succeeds while it runs. */
  readonly probe: readonly string[]
}

const LABEL = 'parley'
/** How long running turns may still take when the service is stopped or replaced by another version. */
const GRACE_SECONDS = 60

/** Undefined on a system that has neither. */
export function serviceUnit(facts: ServiceFacts): ServiceUnit | undefined {
  if (facts.platform === 'linux') return systemdUnit(facts)
  return facts.platform === 'darwin' ? launchdUnit(facts) : undefined
}

function systemdUnit({ home, environment, node, program, state }: ServiceFacts): ServiceUnit {
  const name = `${LABEL}.service`
  const systemctl = (...words: readonly string[]) => ['systemctl', '--user', ...words]
  return {
    manager: 'systemd',
    path: join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'systemd', 'user', name),
    text: `[Unit]
Description=Parley, the session server for AI agents

[Service]
ExecStart=${[node, program, 'serve'].map(commandWord).join(' ')}
ExecStop=${[node, program, 'stop', '--grace', String(GRACE_SECONDS)].map(commandWord).join(' ')}
Environment=${unitWord(`PARLEY_HOME=${state}`)}
TimeoutStopSec=${GRACE_SECONDS + 60}
KillMode=mixed
Restart=on-failure
RestartSec=1

[Install]
WantedBy=default.target
`,
    start: [systemctl('daemon-reload'), systemctl('enable', name), systemctl('restart', name)],
    stop: [systemctl('disable', '--now', name)],
    probe: systemctl('is-active', '--quiet', name),
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
    path,
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${text(LABEL)}
  <key>ProgramArguments</key>
  <array>${[node, program, 'serve'].map(text).join('')}</array>
  <key>EnvironmentVariables</key>
  <dict><key>PARLEY_HOME</key>${text(state)}</dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key>
  <dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>${GRACE_SECONDS}</integer>
</dict>
</plist>
`,
    start: [['launchctl', 'bootstrap', `gui/${uid}`, path]],
    stop: [['launchctl', 'bootout', `gui/${uid}/${LABEL}`]],
    probe: ['launchctl', 'print', `gui/${uid}/${LABEL}`],
  }
}

function escaped(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
