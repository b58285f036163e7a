/** Checks whether the journal is intact, and whether it can be searched. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterSettings, Config } from '../../config/settings.ts'
import { isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { inspectJournal, inspectSearchIndex } from '../compose/inspect.ts'
import { searchIndexPath } from '../cluster/search/index-order.ts'
import { type Finding, note, ok, problem } from './finding.ts'
import { formatCount } from '../../text/shorten.ts'

const MEND =
  'Stop the server and restore a copy of journal.db, or move it away to start afresh; parley export still reads whole sessions.'

const CHECKED = 'parley cluster check says the same until it is mended.'

export async function* diagnoseJournal(config: Config): AsyncGenerator<Finding> {
  if (config.cluster !== undefined) return yield* checkCluster(config.cluster)
  try {
    // Where the directory may not be read this says why, rather than that nothing is there.
    if (statSync(join(config.home, 'journal.db'), { throwIfNoEntry: false }) === undefined)
      return yield note('journal', 'nothing has been said yet')
    const { sessions, entries, wrong } = await inspectJournal(config)
    for (const sentence of wrong) yield problem('journal', sentence, MEND)
    if (wrong.length === 0) yield ok('journal', `${count(sessions, 'session')}, ${count(entries, 'entry', 'entries')}`)
  } catch (error) {
    yield problem('journal', reasonOf(error), MEND)
  }
}

async function* checkCluster(cluster: ClusterSettings): AsyncGenerator<Finding> {
  const { clusterFitness } = await import('../cluster/cluster-reading.ts')
  try {
    for (const { address, durability, warnings, unsafe, isWaiting } of await clusterFitness(cluster)) {
      const stopping = [...(isWaiting ? ['it acknowledges no change now'] : []), ...(cluster.unsafe ? [] : unsafe)]
      if (stopping.length === 0) yield ok('cluster', `${address}, ${durability}`)
      for (const sentence of stopping) yield problem('cluster', `${address}, ${durability}: ${sentence}`, CHECKED)
      for (const sentence of warnings) yield note('cluster', sentence)
    }
  } catch (error) {
    yield problem('cluster', reasonOf(error), CHECKED)
  }
}

export async function* checkSearchIndex(config: Config): AsyncGenerator<Finding> {
  const path = searchIndexPath(config)
  if (!existsSync(path)) return yield note('search index', 'there is none yet; the first search makes it')
  try {
    const state = await inspectSearchIndex(config)
    if (state.kind === 'usable' && state.behind === 0) yield ok('search index', 'has every entry')
    else if (state.kind === 'usable')
      yield note('search index', `${count(state.behind, 'entry', 'entries')} behind; it catches up by itself`)
    else if (state.kind === 'unusable') yield unusable(path, state.reason)
  } catch (error) {
    // A journal that cannot be read is reported already, and is no fault of the index.
    if (isParleyError(error) && !error.code.startsWith('SEARCH_')) yield note('search index', 'cannot be compared')
    else yield unusable(path, reasonOf(error))
  }
}

function unusable(path: string, reason: string): Finding {
  return problem('search index', reason, `Nothing is lost: the next search makes it anew. Or remove ${path}`)
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${formatCount(number)} ${number === 1 ? one : many}`
}
