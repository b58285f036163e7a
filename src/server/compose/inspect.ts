/** What commands open without an owner: tools alone, and a look at the journal, the search index and the sandbox. */
import { openSqliteInspector } from '../../adapters/journal/sqlite/sqlite-journal.ts'
import { CommandSandbox } from '../../adapters/builtin-tools/sandbox/sandbox.ts'
import { systemClock } from '../../adapters/clock.ts'
import { type Orphan, findOrphans } from '../../adapters/process/leftovers.ts'
import { homeMark } from '../../adapters/process/environment.ts'
import { openProcesses } from '../../adapters/process/open-processes.ts'
import { openSearchIndex } from '../../adapters/search/worker/search-client.ts'
import { openToolHost } from '../../adapters/tool-registry/host.ts'
import { ProgramFinder } from '../../config/own-programs.ts'
import type { Config } from '../../config/settings.ts'
import type { IndexState } from '../../ports/search.ts'
import { serverInfo } from '../server-info.ts'
import { loginsOf, openChecker, sandboxSettings } from './sessions.ts'
import { searchOptions } from '../cluster/search/index-order.ts'
import { workerUrl } from './workers.ts'

/** Whether a sandbox for commands can be made here. Makes one and removes it again. */
export async function inspectSandbox(config: Config): Promise<{ readonly reason?: string }> {
  const boot = { home: homeMark(config.home), id: systemClock.id() }
  const processes = openProcesses({ boot, environment: config.environment, clock: systemClock })
  const programs = new ProgramFinder(config.environment.PATH)
  try {
    const trial = await new CommandSandbox(sandboxSettings(config), { clock: systemClock, processes, programs }).try()
    return 'reason' in trial ? trial : {}
  } finally {
    await processes.close()
  }
}

/** Tools alone, without sessions and without the state. */
export function openTools({ home, environment }: Config, warn: (sentence: string) => void) {
  const boot = { home: homeMark(home), id: systemClock.id() }
  const processes = openProcesses({ boot, environment, clock: systemClock })
  const logins = loginsOf({ home })
  const checker = openChecker()
  const host = openToolHost({ processes, checker, clock: systemClock, clientInfo: serverInfo, warn, logins })
  const close = async (): Promise<void> => {
    await host.close()
    await Promise.all([processes.close(), checker.close()])
  }
  return { host, after: (ms: number) => systemClock.sleep(ms), close }
}

export interface JournalState {
  readonly sessions: number
  readonly entries: number
  /** A sentence for each thing that is wrong. */
  readonly wrong: readonly string[]
}

/** Reads the whole journal and changes nothing. Throws what keeps it from being read. */
export async function inspectJournal({ home }: Config): Promise<JournalState> {
  const journal = await openSqliteInspector({ directory: home, workerUrl: workerUrl('journal-worker') })
  try {
    const wrong = await journal.check()
    const rows = wrong.length > 0 ? [] : await journal.list({ limit: Number.MAX_SAFE_INTEGER })
    return { sessions: rows.length, entries: rows.reduce((sum, { lastSeq }) => sum + lastSeq, 0), wrong }
  } finally {
    await journal.close()
  }
}

/** Changes nothing either. */
export async function inspectSearchIndex(config: Config): Promise<IndexState> {
  const index = openSearchIndex({ ...searchOptions(config), quiet: true, report: () => undefined })
  try {
    return await index.inspect()
  } finally {
    await index.close()
  }
}

/** Processes that former owners of this state directory left running. */
export function orphansOf(home: string, owner: number | undefined): Promise<readonly Orphan[]> {
  return findOrphans(homeMark(home), owner)
}
