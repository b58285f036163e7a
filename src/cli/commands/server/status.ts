/** `parley status`: shows the status of the server. It never starts one. */
import { isParleyError } from '../../../errors/parley-error.ts'
import { askStatus } from '../../../server/admin/admin-client.ts'
import type { Status } from '../../../server/admin/admin-methods.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { lenientConfig } from '../../configured.ts'
import { remoteOf } from '../../remote/dial-remote.ts'
import { OK } from '../../runtime/exit-codes.ts'
import { printJson } from '../../output/json.ts'
import { isTerminal, paintOn } from '../../output/terminal-io.ts'
import { pause } from '../../output/terminal/pace.ts'
import { watchStops } from '../../runtime/shutdown-signals.ts'
import type { Config } from '../../../config/settings.ts'
import { shortId } from '../../sessions/session-resolution.ts'
import type { Paint } from '../../output/terminal/colors.ts'

export async function run({ options }: CommandInput): Promise<number> {
  const config = await lenientConfig()
  const place = { ...config, ...(await remoteOf(config)) }
  const paint = paintOn(process.stdout, config)
  const show = async (): Promise<void> => {
    const status = await askStatus(place)
    if (options['json'] === true) printJson(status)
    else process.stdout.write(`${options['watch'] === true ? frame(config) : ''}${statusTable(status, paint)}`)
  }
  await show()
  if (options['watch'] !== true) return OK
  return await watch(() =>
    show().catch((error: unknown) => {
      if (!isParleyError(error, 'SERVER_ABSENT') && !isParleyError(error, 'CONNECTION_LOST')) throw error
      // It may be replaced by a newer one, or start again.
      if (options['json'] !== true) process.stdout.write(`${frame(config)}No server runs now.\n`)
    }),
  )
}

/** Milliseconds between two requests for the status. */
const EVERY_MS = 2_000

/** Until a signal or a closed output ends it, which is the normal end. */
async function watch(show: () => Promise<void>): Promise<number> {
  const stops = watchStops()
  const stopped = aborted(stops.signal)
  for (;;) {
    await Promise.race([pause(EVERY_MS), stopped])
    if (stops.signal.aborted) return OK
    await show()
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** At a terminal each status replaces the one before it. Without a terminal, an empty line separates them. */
function frame(config: Config): string {
  return isTerminal(process.stdout, config) ? '\u001b[H\u001b[2J' : '\n'
}

function statusTable(status: Status, paint: Paint): string {
  const rows: readonly (readonly [string, string])[] = [
    ['version', status.version],
    ['pid', String(status.pid)],
    ['socket', status.socket],
    ['up', duration(status.uptimeSeconds)],
    ['sessions', `${status.sessions} live, ${status.working} with a running turn`],
    ...(status.queued !== undefined && status.queued > 0
      ? [['queued', `${status.queued} prompts wait for a turn to end`] as const]
      : []),
    ['clients', String(status.clients)],
    ['MCP servers', String(status.mcpServers)],
    // A server of an earlier version does not send these fields.
    ...(status.residentBytes === undefined ? [] : [['memory', megabytes(status.residentBytes)] as const]),
    ...(status.journalBytes === undefined ? [] : [['journal', megabytes(status.journalBytes)] as const]),
    ...(status.databases ?? []).map(
      ({ address, durability, warnings }) =>
        ['database', [`${address}, ${durability}`, ...warnings].join('; ')] as const,
    ),
    // A server of an earlier version does not send this field.
    ...(status.agents ?? []).map((one) => ['agent', agentWords(one)] as const),
  ]
  return rows.map(([name, value]) => `${paint('dim', name.padEnd(12))}${value}\n`).join('')
}

/** One agent process: its session, and the memory and CPU that it uses. */
function agentWords({ sessionId, agent, version, pid, ...usage }: Status['agents'][number]): string {
  const { residentBytes, maxBytes, cpuMs, idleSeconds, quietSeconds, stallMinutes } = usage
  const limit = maxBytes === undefined ? '' : ` of ${megabytes(maxBytes)}`
  const memory = residentBytes === undefined ? [] : [`${megabytes(residentBytes)}${limit}`]
  const cpu = cpuMs === undefined ? [] : [`${Math.round(cpuMs / 1_000)} s CPU`]
  const stall = stallMinutes === undefined ? '' : ` (at most ${duration(stallMinutes * 60)})`
  const quiet = quietSeconds === undefined ? 'at work' : `quiet for ${duration(quietSeconds)}${stall}`
  const idle = idleSeconds === undefined ? quiet : `idle for ${duration(idleSeconds)}`
  const name = `${agent} ${version}`.trim()
  return [`${name} in ${shortId(sessionId)}`, `pid ${pid}`, ...memory, ...cpu, idle].join(', ')
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`
}

function duration(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min` : `${seconds} s`
}
