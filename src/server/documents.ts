/** Parley's own document search, started with the first question and shared by all sessions of the same directories. */
import { randomBytes } from 'node:crypto'
import type { DocsServer } from '../docs-server/server.ts'
import type { McpServer, ToolHostRequest } from '../ports/tools.ts'
import { serverInfo } from './version.ts'
import { workerUrl } from './workers.ts'

type Request = Pick<ToolHostRequest, 'roots'>

export interface SharedDocuments {
  /** What every session's registry holds as its own, not connected before it is needed. */
  readonly builtin: {
    readonly name: string
    readonly title: string
    connect(request: Request): Promise<McpServer>
    /** What it will list, so that nobody waits for it who may never ask it anything. */
    tools(request: Request): Promise<readonly object[]>
    /** The session of this request is over; with the last one of its directories their index ends. */
    release(request: Request): Promise<void>
  }
  close(): Promise<void>
}

interface Shared {
  readonly server: Promise<DocsServer>
  /** The sessions that asked for it and are not over. */
  readonly users: Set<Request>
}

export function openSharedDocuments(report: (error: unknown) => void): SharedDocuments {
  const shared = new Map<string, Shared>()
  // Only this process knows the key, and it ends with it.
  const key = randomBytes(24).toString('base64url')

  function sharedBy({ roots }: Request): Shared {
    const name = JSON.stringify(roots)
    const running = shared.get(name)
    if (running !== undefined) return running
    const starting: Shared = { server: start(roots, key, report), users: new Set() }
    shared.set(name, starting)
    // A start that failed is tried anew with the next question.
    starting.server.catch(() => shared.get(name) === starting && shared.delete(name))
    return starting
  }

  return {
    builtin: {
      name: 'docs',
      title: 'Documents',
      async connect(request) {
        const { server, users } = sharedBy(request)
        users.add(request)
        const { url } = await server
        return { type: 'http', name: 'docs', url, headers: [['Authorization', `Bearer ${key}`]] }
      },
      async tools({ roots }) {
        const { toolsFor } = await import('../docs-server/tools/all.ts')
        return toolsFor(roots)
      },
      async release(request) {
        const name = JSON.stringify(request.roots)
        const left = shared.get(name)
        if (left?.users.delete(request) !== true || left.users.size > 0) return
        shared.delete(name)
        await closed(left)
      },
    },
    async close() {
      await Promise.all([...shared.values()].map(closed))
    },
  }
}

async function closed({ server }: Shared): Promise<void> {
  // One that never started has nothing to close; whoever asked for it was told why.
  await server.then((running) => running.close()).catch(() => undefined)
}

async function start(roots: readonly string[], key: string, report: (error: unknown) => void): Promise<DocsServer> {
  const { openDocsServer } = await import('../docs-server/server.ts')
  return openDocsServer({
    directories: roots,
    name: `${serverInfo.name}-docs`,
    version: serverInfo.version,
    keys: [key],
    workerUrl: workerUrl('docs-worker'),
    log: (line) => report(line),
  })
}
