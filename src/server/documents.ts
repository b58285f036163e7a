/** Parley's own document search, started with the first question and shared by all sessions of the same directories. */
import { randomBytes } from 'node:crypto'
import type { DocsServer } from '../docs-server/server.ts'
import type { McpServer, ToolHostRequest } from '../ports/tools.ts'
import { serverInfo } from './version.ts'
import { workerUrl } from './workers.ts'

export interface SharedDocuments {
  /** What every session's registry holds as its own, not connected before it is needed. */
  readonly builtin: {
    readonly name: string
    readonly title: string
    connect(request: Pick<ToolHostRequest, 'roots'>): Promise<McpServer>
  }
  close(): Promise<void>
}

export function openSharedDocuments(report: (error: unknown) => void): SharedDocuments {
  const servers = new Map<string, Promise<DocsServer>>()
  // Only this process knows the key, and it ends with it.
  const key = randomBytes(24).toString('base64url')

  function serverOf(roots: readonly string[]): Promise<DocsServer> {
    const name = JSON.stringify(roots)
    const running = servers.get(name)
    if (running !== undefined) return running
    const starting = start(roots, key, report)
    servers.set(name, starting)
    // A start that failed is tried anew with the next question.
    starting.catch(() => servers.delete(name))
    return starting
  }

  return {
    builtin: {
      name: 'docs',
      title: 'Documents',
      async connect({ roots }) {
        const { url } = await serverOf(roots)
        return { type: 'http', name: 'docs', url, headers: [['Authorization', `Bearer ${key}`]] }
      },
    },
    async close() {
      await Promise.allSettled([...servers.values()].map(async (server) => (await server).close()))
    },
  }
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
