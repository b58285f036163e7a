/** Who owns the state, whether its server answers, and what former owners left running. */
import { existsSync } from 'node:fs'
import type { Config } from '../../config/settings.ts'
import { isParleyError, reasonOf } from '../../errors/parley-error.ts'
import { askStatus } from '../admin/admin-client.ts'
import { orphansOf } from '../compose/inspect.ts'
import { type ServerProcess, readPidFile } from '../daemon/pid-file.ts'
import { serverInfo } from '../server-info.ts'
import { type Finding, note, ok, problem } from './finding.ts'

const WHAT = 'server'

export async function* checkServer(config: Config): AsyncGenerator<Finding> {
  const holder = readPidFile(config.home)
  if (holder !== undefined && !holder.isServer)
    return yield note(WHAT, `none; the process ${holder.pid} owns the state for itself, so no server can start now`)
  try {
    yield answered(await askStatus(config))
  } catch (error) {
    yield unanswered(config, holder, error)
  }
}

function answered({ version, pid, socket }: { version: string; pid: number; socket: string }): Finding {
  const says = `version ${version} (pid ${pid}) answers on ${socket}`
  if (version === serverInfo.version) return ok(WHAT, says)
  return problem(WHAT, `${says}, and this is ${serverInfo.version}`, 'Replace it when nothing runs: parley stop')
}

function unanswered({ socket }: Config, holder: ServerProcess | undefined, error: unknown): Finding {
  if (!isParleyError(error, 'SERVER_ABSENT')) return problem(WHAT, reasonOf(error), remedyFor(error))
  if (holder !== undefined)
    return problem(
      WHAT,
      `the process ${holder.pid} owns the state and does not listen on ${socket}`,
      `If it has not just begun to start or stop, end it: kill ${holder.pid}`,
    )
  const stale = existsSync(socket) ? `; ${socket} is left from one that was killed, and the next replaces it` : ''
  return note(WHAT, `none runs; the first command that needs one starts it${stale}`)
}

function remedyFor(error: unknown): string {
  if (isParleyError(error, 'SERVER_SILENT')) return 'Wait, or end it with kill -9: what was said is kept.'
  if (isParleyError(error, 'PEER_REFUSED')) return 'Set PARLEY_CLIENT_TOKEN to the token that this server asks for.'
  return 'Remove what stands in its place, or set PARLEY_HOME to another directory.'
}

export async function* checkOrphans({ home }: Config): AsyncGenerator<Finding> {
  const orphans = await orphansOf(home, readPidFile(home)?.pid)
  if (orphans.length === 0) return yield ok('processes', 'no child of a former server is left')
  const names = orphans.map(({ pid, command }) => `${command} (pid ${pid})`).join(', ')
  yield problem('processes', `left by a server that was killed: ${names}`, 'The next server ends them: parley serve')
}
