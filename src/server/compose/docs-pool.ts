/** Parley's own document search, started with the first question and shared by all sessions of the same directories. */
import { randomBytes } from 'node:crypto'
import type { DocsServer } from '../../docs-search/server.ts'
import type { PathAccess } from '../../access/path-access.ts'
import type { Rules } from '../../ports/rules.ts'
import type { McpServer, Tool, ToolHostRequest } from '../../ports/tools.ts'
import { accessOf } from '../../session/permission/path-access-filter.ts'
import { serverInfo } from '../version.ts'
import { workerUrl } from './workers.ts'

/** What sessions know it as. */
const SERVER = 'docs'

/** Texts that tests are made of answer no question about a project. `!test/` in its `.ignore` takes that back. */
const OF_TESTS = [
  'test/',
  'tests/',
  '__tests__/',
  'fixtures/',
  '__fixtures__/',
  'testdata/',
  'test-data/',
  '__snapshots__/',
]

type Request = Pick<ToolHostRequest, 'roots'>

export interface DocsPool {
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

export interface DocumentsOptions {
  /** What they keep from calls of tools, they keep from the document search. */
  readonly rules: Pick<Rules, 'rulesFor'>
  readonly report: (error: unknown) => void
}

export function openDocsPool({ rules, report }: DocumentsOptions): DocsPool {
  const shared = new Map<string, Shared>()
  // Only this process knows the key, and it ends with it.
  const key = randomBytes(24).toString('base64url')

  function sharedBy({ roots }: Request): Shared {
    const name = JSON.stringify(roots)
    const running = shared.get(name)
    if (running !== undefined) return running
    const starting: Shared = { server: start(roots, key), users: new Set() }
    shared.set(name, starting)
    // A start that failed is tried anew with the next question.
    starting.server.catch(() => shared.get(name) === starting && shared.delete(name))
    return starting
  }

  async function start(roots: readonly string[], key: string): Promise<DocsServer> {
    const { openDocsServer } = await import('../../docs-search/server.ts')
    return openDocsServer({
      directories: roots,
      name: `${serverInfo.name}-docs`,
      version: serverInfo.version,
      keys: [key],
      workerUrl: workerUrl('docs-worker'),
      log: (line) => report(line),
      access: () => accessFor(roots, rules),
      skipped: OF_TESTS,
    })
  }

  return {
    builtin: {
      name: SERVER,
      title: 'Documents',
      async connect(request) {
        const { server, users } = sharedBy(request)
        users.add(request)
        const { url } = await server
        return { type: 'http', name: SERVER, url, headers: [['Authorization', `Bearer ${key}`]] }
      },
      async tools({ roots }) {
        const { toolsFor } = await import('../../docs-search/mcp-server/tools/all.ts')
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

/** A rule that names one of the tools is kept by all of them: what one may not show, another must not give away. */
async function accessFor(roots: readonly string[], rules: Pick<Rules, 'rulesFor'>): Promise<PathAccess> {
  const { TOOLS } = await import('../../docs-search/mcp-server/tools/all.ts')
  return accessOf(TOOLS.map(toolOf), await rules.rulesFor(roots))
}

/** As the registry of a session knows it; what it says of itself decides nothing here. */
function toolOf({ name }: { readonly name: string }): Tool {
  const about = { title: name, description: '', inputSchema: {}, builtin: true, readOnly: true, definitionHash: '' }
  return { ...about, name: `${SERVER}__${name}`, serverToolName: name, server: SERVER }
}
