/** `parley agents import NAME [SESSION]`: lists the sessions of an agent's own store, and imports those that the user chooses. */
import { resolve } from 'node:path'
import { type AdminTarget, askToImportFromAgent } from '../../../server/admin/admin-client.ts'
import type { ImportableSession, SkippedSession } from '../../../server/agents/import-sessions.ts'
import { startServer } from '../../../server/launch/launch.ts'
import { remoteOf } from '../../remote/dial-remote.ts'
import { configFor } from '../../configured.ts'
import { printJson } from '../../output/json.ts'
import { progressLine } from '../../output/progress-line.ts'
import { oneLine } from '../../output/terminal/text.ts'
import { choose } from '../../prompts/choose.ts'
import type { CommandInput } from '../../runtime/command.ts'
import { FAILED, OK } from '../../runtime/exit-codes.ts'
import { complain } from '../../say.ts'

/** Sessions in one request. What was imported is shown before the next request. */
const BATCH = 10

type Progress = ReturnType<typeof progressLine>
type Order = Parameters<typeof askToImportFromAgent>[1]

/** With `--json`: one line for each session that is listed, imported or skipped. */
export async function run({ args: [name = '', session], options }: CommandInput): Promise<number> {
  const config = await configFor()
  const progress = progressLine(process.stderr)
  const isHere = config.server === undefined
  const target = { ...config, ...(await remoteOf(config)) }
  const cwd = options['cwd'] === undefined ? {} : { cwd: resolve(String(options['cwd'])) }
  // A directory of this machine says nothing about the agents of another one.
  const order = { agent: name, ...(isHere && { directory: process.cwd() }), ...cwd }
  const isJson = options['json'] === true
  try {
    if (isHere) await startServer({ ...config, program: process.argv[1] ?? '' }, (sentence) => progress.say(sentence))
    if (session !== undefined) return await take(target, order, { ids: [session], isJson, progress })
    progress.say('Asking for its sessions …')
    const { sessions, isCut } = await askToImportFromAgent(target, order)
    progress.done()
    if (isCut) complain(`${oneLine(name, 60)} has more sessions than these; list those of one directory with --cwd`)
    const ids = await chosen(sessions, { isAll: options['all'] === true, isJson })
    return ids.length === 0 ? OK : await take(target, order, { ids, isJson, progress })
  } finally {
    progress.done()
  }
}

interface Choice {
  readonly isAll: boolean
  readonly isJson: boolean
}

/** Without a terminal and without `--all` the list is all that the user gets. */
async function chosen(sessions: readonly ImportableSession[], { isAll, isJson }: Choice): Promise<readonly string[]> {
  const fresh = sessions.filter(({ standing }) => standing === 'new').toSorted(newestFirst)
  if (isAll) {
    if (fresh.length === 0 && !isJson) process.stdout.write('There is nothing new to import.\n')
    // The oldest first, so that the list of sessions has them in their order.
    return fresh.map(({ agentSessionId }) => agentSessionId).toReversed()
  }
  const canAsk = process.stdin.isTTY && process.stderr.isTTY && !isJson && fresh.length > 0
  if (canAsk) {
    const rows = fresh.map((one) => ({ value: one.agentSessionId, label: sessionLine(one) }))
    return (await choose('Which sessions should be imported? Space marks, Enter imports', rows)).toReversed()
  }
  if (isJson) sessions.toSorted(newestFirst).forEach((one) => printJson({ listed: one }))
  else print(sessions)
  return []
}

function print(sessions: readonly ImportableSession[]): void {
  for (const one of sessions.toSorted(newestFirst)) {
    const standing = { new: '', here: ' (imported already)', deleted: ' (deleted here)' }[one.standing]
    process.stdout.write(`${oneLine(one.agentSessionId, 100)}  ${sessionLine(one)}${standing}\n`)
  }
  if (sessions.length === 0) process.stdout.write('The agent has no sessions of its own.\n')
  else if (sessions.some(({ standing }) => standing === 'new'))
    complain('nothing was imported; add --all, or the id of a session')
}

function newestFirst(a: ImportableSession, b: ImportableSession): number {
  return (b.updatedAt ?? 0) - (a.updatedAt ?? 0)
}

function sessionLine({ title, cwd, updatedAt, agentSessionId }: ImportableSession): string {
  const day = updatedAt === undefined ? '' : `${new Date(updatedAt).toISOString().slice(0, 10)}  `
  return `${day}${oneLine(title ?? agentSessionId, 60)}  ${oneLine(cwd, 100)}`
}

interface Taking {
  readonly ids: readonly string[]
  readonly isJson: boolean
  readonly progress: Progress
}

async function take(target: AdminTarget, order: Order, { ids, isJson, progress }: Taking): Promise<number> {
  let failures = 0
  for (let from = 0; from < ids.length; from += BATCH) {
    progress.say(`Importing ${from + 1} of ${ids.length} …`)
    const { imported, skipped } = await askToImportFromAgent(target, {
      ...order,
      sessions: ids.slice(from, from + BATCH),
    })
    progress.done()
    for (const one of imported) {
      if (isJson) printJson({ imported: one })
      else process.stdout.write(`${one.sessionId}  ${one.turns === 1 ? '1 turn' : `${one.turns} turns`}\n`)
    }
    for (const one of skipped) {
      if (isJson) printJson({ skipped: one })
      else complain(`${oneLine(one.agentSessionId, 100)} was not imported: ${WHY[one.why]}${reasonOf(one)}`)
    }
    failures += skipped.filter(({ why }) => why === 'failed' || why === 'unknown').length
  }
  return failures > 0 ? FAILED : OK
}

const WHY: Readonly<Record<SkippedSession['why'], string>> = {
  here: 'it is here already',
  deleted: 'it was deleted here',
  empty: 'it was never prompted',
  unknown: 'the agent lists no such session',
  failed: '',
}

function reasonOf({ reason }: SkippedSession): string {
  return reason === undefined ? '' : oneLine(reason, 500)
}
