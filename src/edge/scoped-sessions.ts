/** Limits a connection to the sessions that its credential reaches. For its holder there are no others. */
import { realpath } from 'node:fs/promises'
import { type Scope, isBelow, reaches } from '../credentials/scope.ts'
import { fail } from '../errors/parley-error.ts'
import type { ListKey, ListQuery } from '../ports/journal.ts'
import type { SessionConfig, SessionDirectory, SessionHandle } from '../session/handle.ts'

/** Rows that are read at once while others are left out. */
const ROWS_PER_READ = 200

type SessionSummary = Awaited<ReturnType<SessionDirectory['list']>>[number]

export function withinScope(sessions: SessionDirectory, scope: Scope): SessionDirectory {
  return scope === 'all' ? sessions : new ScopedSessions(sessions, scope)
}

class ScopedSessions implements SessionDirectory {
  readonly #sessions: SessionDirectory
  readonly #scope: Exclude<Scope, 'all'>

  constructor(sessions: SessionDirectory, scope: Exclude<Scope, 'all'>) {
    this.#sessions = sessions
    this.#scope = scope
  }

  async create(config: SessionConfig): Promise<SessionHandle> {
    for (const path of [config.cwd, ...config.additionalDirectories]) await this.#requireDirectory(path)
    return this.#sessions.create(config)
  }

  async open(id: string, config: SessionConfig): Promise<SessionHandle> {
    await this.#require(id)
    for (const path of config.additionalDirectories) await this.#requireDirectory(path)
    return this.#sessions.open(id, config)
  }

  async fork(...[id, at]: Parameters<SessionDirectory['fork']>): Promise<string> {
    await this.#require(id)
    if ('sessions' in this.#scope) fail('SCOPE_TOO_NARROW', { what: 'A fork of this session' })
    return this.#sessions.fork(id, at)
  }

  /** As many as are asked for, if there are so many: pages stay whole. */
  async list(query: ListQuery): Promise<readonly SessionSummary[]> {
    const found: SessionSummary[] = []
    let after: ListKey | undefined = query.after
    for (;;) {
      const rows = await this.#sessions.list({
        ...query,
        limit: Math.max(ROWS_PER_READ, query.limit),
        ...(after && { after }),
      })
      found.push(...rows.filter((one) => reaches(this.#scope, one)))
      const last = rows.at(-1)
      if (found.length >= query.limit || rows.length < Math.max(ROWS_PER_READ, query.limit) || last === undefined)
        return found.slice(0, query.limit)
      after = { updatedAt: last.updatedAt, id: last.id }
    }
  }

  async find(id: string): Promise<SessionSummary | undefined> {
    const found = await this.#sessions.find(id)
    return found !== undefined && reaches(this.#scope, found) ? found : undefined
  }

  async page(...[id, query]: Parameters<SessionDirectory['page']>): ReturnType<SessionDirectory['page']> {
    await this.#require(id)
    return this.#sessions.page(id, query)
  }

  async exportPage(
    ...[id, range]: Parameters<SessionDirectory['exportPage']>
  ): ReturnType<SessionDirectory['exportPage']> {
    await this.#require(id)
    return this.#sessions.exportPage(id, range)
  }

  async outline(id: string): ReturnType<SessionDirectory['outline']> {
    await this.#require(id)
    return this.#sessions.outline(id)
  }

  async answer(...[id, answer]: Parameters<SessionDirectory['answer']>): ReturnType<SessionDirectory['answer']> {
    await this.#require(id)
    return this.#sessions.answer(id, answer)
  }

  async changeQueue(...[id, change]: Parameters<SessionDirectory['changeQueue']>): Promise<boolean> {
    await this.#require(id)
    return this.#sessions.changeQueue(id, change)
  }

  async rename(id: string, title: string): Promise<void> {
    await this.#require(id)
    return this.#sessions.rename(id, title)
  }

  async revoke(...[id, grant]: Parameters<SessionDirectory['revoke']>): Promise<void> {
    await this.#require(id)
    return this.#sessions.revoke(id, grant)
  }

  async releaseAgent(...[id, when]: Parameters<SessionDirectory['releaseAgent']>): Promise<boolean> {
    await this.#require(id)
    return this.#sessions.releaseAgent(id, when)
  }

  async close(id: string): Promise<void> {
    await this.#require(id)
    return this.#sessions.close(id)
  }

  async delete(id: string): Promise<void> {
    if ((await this.find(id)) !== undefined) await this.#sessions.delete(id)
  }

  /** A removed session is named by its id alone: a client that lists sessions knows whether it had that row. */
  watch(listener: Parameters<SessionDirectory['watch']>[0]): () => void {
    return this.#sessions.watch((change) => {
      if (change.kind === 'removed' || reaches(this.#scope, change.row)) listener(change)
    })
  }

  /** Only those are followed that the client has opened. */
  whenOpened(listener: (session: SessionHandle) => void): () => void {
    return this.#sessions.whenOpened(listener)
  }

  async #require(id: string): Promise<void> {
    if ((await this.find(id)) === undefined) fail('SESSION_NOT_FOUND', { session: id })
  }

  /** Links are followed: what is read and written there is what counts. */
  async #requireDirectory(path: string): Promise<void> {
    if ('sessions' in this.#scope) return fail('SCOPE_TOO_NARROW', { what: 'A new session or directory' })
    const real = await realOf(path)
    for (const directory of this.#scope.directories)
      if (isBelow(path, directory) && isBelow(real, await realOf(directory))) return
    fail('SCOPE_TOO_NARROW', { what: path })
  }
}

async function realOf(path: string): Promise<string> {
  // A directory that is missing is reported elsewhere.
  return realpath(path).catch(() => path)
}
