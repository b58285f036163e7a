/** The content of a bug report, as one text that its author can read before sending it: no conversation, no path of a session, no secret. */
import { readFileSync, statSync } from 'node:fs'
import { arch, availableParallelism, homedir, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Diagnosis } from '../../config/diagnose.ts'
import type { Config } from '../../config/settings.ts'
import { buildInfo } from '../build-info.ts'
import { LogReader } from '../log/log-reader.ts'
import type { Finding } from './finding.ts'
import { reportRedactor } from './redact.ts'

/** Lines of the log. */
const LOG_LINES = 1_000

export function bugReport(diagnosis: Diagnosis, findings: readonly Finding[]): string {
  const { config, files } = diagnosis
  const redact = reportRedactor({
    environment: config.environment,
    settings: files.map(readOrEmpty),
    home: config.environment['HOME'] ?? homedir(),
  })
  const report = {
    parley: buildInfo(process.version),
    system: {
      platform: platform(),
      release: release(),
      arch: arch(),
      processors: availableParallelism(),
      memoryMb: Math.round(totalmem() / 1_000_000),
    },
    settings: plainSettings(config),
    state: sizesIn(config.home),
    findings,
    log: new LogReader(config.home).last(LOG_LINES).map(plainLine),
  }
  // Before it is JSON, whose escapes would hide a value from the search for it.
  const plain = (_key: string, value: unknown) => (typeof value === 'string' ? redact(value) : value)
  return `${JSON.stringify(report, plain, 2)}\n`
}

/** Numbers and switches say how Parley runs; a text may be anything, so it is only said whether there is one. */
function plainSettings(config: Config): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(config)
      .filter(([key]) => !['environment', 'home', 'socket', 'providerVariables', 'warnings'].includes(key))
      .map(([key, value]: [string, unknown]) => [
        key,
        typeof value === 'number' || typeof value === 'boolean' ? value : value === undefined ? 'absent' : 'present',
      ]),
  )
}

function sizesIn(home: string): Readonly<Record<string, number>> {
  const sizes = ['journal.db', 'journal.db-wal', 'search.db', 'cluster-search.db'].flatMap((name) => {
    const found = statSync(join(home, name), { throwIfNoEntry: false })
    return found === undefined ? [] : [[name, found.size] as const]
  })
  return Object.fromEntries(sizes)
}

/** A line of the log, without fields that could have words of a conversation. */
function plainLine(line: string): unknown {
  try {
    const { level, time, msg, err, code } = JSON.parse(line) as Readonly<Record<string, unknown>>
    const { stack, message, code: errorCode } = (err ?? {}) as Readonly<Record<string, unknown>>
    return { level, time, msg, code: code ?? errorCode, error: stack ?? message }
  } catch {
    // A line that a killed process left unfinished.
    return 'unreadable'
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // There is none, or none that this user may read.
    return ''
  }
}
