/** Before a server is stopped on purpose: systemd would start it again for the next client that connects. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ServiceFacts, SOCKET_UNIT, unitDirectory } from './unit.ts'

/** Stops the socket unit where one is installed, and with it the service. It never waits for the server and never throws. */
export async function stopListening({ environment }: Pick<ServiceFacts, 'environment'>): Promise<void> {
  const unit = join(unitDirectory(environment, environment['HOME'] ?? homedir()), SOCKET_UNIT)
  // systemd sets this variable for the command with which it stops the service itself.
  if (environment['SERVICE_RESULT'] !== undefined || !existsSync(unit)) return
  await new Promise<void>((resolve) => {
    // Where no systemd of the user answers, nothing listens.
    execFile('systemctl', ['--user', 'stop', '--no-block', SOCKET_UNIT], { env: environment }, () => resolve())
  })
}
