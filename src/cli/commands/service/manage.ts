/** Installs, removes and checks the service. Nothing is written on a machine whose service manager does not answer. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { Config } from '../../../config/settings.ts'
import { fail } from '../../../errors/parley-error.ts'
import { stopServer } from '../../../server/launch/stop.ts'
import { stopListening } from '../../../server/service/stop-listening.ts'
import { type ServiceUnit, serviceUnit } from '../../../server/service/unit.ts'
import { printJson } from '../../output/json.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { lenientConfig } from '../../configured.ts'

/** How long turns of a server that is replaced by the service may still take. Milliseconds. */
const GRACE_MS = 60_000

export async function run({ name, options }: CommandInput): Promise<number> {
  const config = await lenientConfig()
  const unit = unitFor(config)
  if (options['print'] === true) {
    process.stdout.write(printed(unit))
    return OK
  }
  if (name === 'service install') await install(unit, config)
  else if (name === 'service uninstall') await uninstall(unit, config)
  return await tell(unit, config, { asJson: options['json'] === true, mustRun: name !== 'service uninstall' })
}

/** A plist is one file, and has no comments of this kind. */
function printed({ files }: ServiceUnit): string {
  const [only] = files
  return files.length === 1 ? only.text : files.map(({ path, text }) => `# ${path}\n${text}`).join('\n')
}

/** Throws SERVICE_MANAGER_ABSENT. */
function unitFor(config: Config): ServiceUnit {
  const unit = serviceUnit({
    platform: process.platform,
    home: config.environment['HOME'] ?? homedir(),
    uid: process.getuid?.() ?? 0,
    environment: config.environment,
    node: process.execPath,
    program: resolve(process.argv[1] ?? ''),
    state: config.home,
    socket: config.socket,
  })
  return unit ?? fail('SERVICE_MANAGER_ABSENT', { reason: 'Parley supports only systemd and launchd' })
}

async function install(unit: ServiceUnit, config: Config): Promise<void> {
  await requireManager(unit, config)
  for (const { path, text } of unit.files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  // A server that a command started has the state; the service takes over when its turns have ended.
  await stopListening(config)
  await stopServer(config, { graceMs: GRACE_MS, onProgress: (sentence) => process.stderr.write(`${sentence}\n`) })
  // launchd refuses to load a service twice, so it is unloaded first. It is no failure if none was loaded.
  if (unit.manager === 'launchd') for (const command of unit.stop) await attempt(command, config)
  for (const command of unit.start) await call(command, config)
}

async function uninstall(unit: ServiceUnit, config: Config): Promise<void> {
  if (!existsSync(unit.files[0].path)) return
  for (const command of unit.stop) await call(command, config)
  for (const { path } of unit.files) rmSync(path, { force: true })
}

const HOW_TO_INSTALL = '; parley service install does that, with --print it only shows what it would write'

async function tell(
  unit: ServiceUnit,
  config: Config,
  { asJson, mustRun }: { readonly asJson: boolean; readonly mustRun: boolean },
): Promise<number> {
  const [{ path }] = unit.files
  const isInstalled = existsSync(path)
  const isRunning = isInstalled && (await attempt(unit.probe, config)) === undefined
  if (asJson) printJson({ manager: unit.manager, file: path, isInstalled, isRunning })
  else if (!isInstalled) process.stdout.write(`The service is not installed${mustRun ? HOW_TO_INSTALL : ''}.\n`)
  else process.stdout.write(`${path}: the service ${isRunning ? 'runs' : 'does not run'}\n`)
  return isRunning || !mustRun ? OK : FAILED
}

/** A container often has systemctl without a running systemd. Throws SERVICE_MANAGER_ABSENT. */
async function requireManager(unit: ServiceUnit, config: Config): Promise<void> {
  if (unit.manager !== 'systemd') return
  const reason = await attempt(['systemctl', '--user', 'show-environment'], config)
  if (reason !== undefined) fail('SERVICE_MANAGER_ABSENT', { reason })
}

/** Throws SERVICE_COMMAND_FAILED. */
async function call(command: readonly string[], config: Config): Promise<void> {
  const reason = await attempt(command, config)
  if (reason !== undefined) fail('SERVICE_COMMAND_FAILED', { command: command.join(' '), reason })
}

/** Why it failed; undefined where it did not. */
function attempt([program = '', ...args]: readonly string[], { environment }: Config): Promise<string | undefined> {
  return new Promise((resolved) => {
    execFile(program, args, { env: environment }, (error, _stdout, stderr) => {
      if (error === null) resolved(undefined)
      else resolved(stderr.trim().split('\n')[0] || error.message.split('\n')[0] || 'it failed')
    })
  })
}
