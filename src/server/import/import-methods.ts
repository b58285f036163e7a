/** Brings sessions in, from a file or from an agent: the server reads them itself, since it alone may append. */
import { isAbsolute } from 'node:path'
import { fail } from '../../errors/parley-error.ts'
import type { Agents } from '../../ports/agent.ts'
import type { Entry } from '../../session/domain/entries.ts'
import type { AgentImportAnswer } from '../agents/import-sessions.ts'
import type { Owner } from '../compose/compose.ts'

/** As it is on the wire: a file of the server's machine by its absolute path, or an upload with the name that it has elsewhere. */
export type ImportParams = { readonly keepId: boolean } & (
  | { readonly path: string }
  | { readonly upload: string; readonly name: string }
)

interface ImportOrder {
  readonly from: { readonly path: string } | { readonly upload: string; readonly name: string }
  /** The id that the session had, if it is free. */
  readonly keepId: boolean
}

/** The longest name of a file that an error repeats. */
const MAX_NAME = 200

export interface ImportAnswer {
  readonly sessionId: string
}

/** The methods of the wire. A path is one of the server's machine; a client elsewhere uploads its file. All are for the role admin. */
export function importMethods(
  owner: Owner,
  home: string,
): Readonly<Record<string, (params: unknown) => Promise<unknown>>> {
  const uploads = async () => new (await import('./uploads.ts')).Uploads(home, owner.clock)
  return {
    '_parley/import': async (params) => {
      const { from, keepId } = parseImport(params)
      if ('path' in from) return importFile(owner, { path: from.path, name: from.path, keepId })
      const uploaded = await uploads()
      try {
        return await importFile(owner, { path: uploaded.pathOf(from.upload), name: from.name, keepId })
      } finally {
        uploaded.remove(from.upload)
      }
    },
    '_parley/import/upload': async (params) => {
      const { upload, part } = parseUpload(params)
      return { upload: (await uploads()).append(upload, part) }
    },
    '_parley/agents/import': async (params) => importFromAgent(owner, params),
  }
}

async function importFromAgent(owner: Owner, params: unknown): Promise<AgentImportAnswer> {
  const { parseAgentImport } = await import('../agents/import-sessions.ts')
  const order = parseAgentImport(params)
  return (await owner.agentImports()).run(order)
}

interface ImportedFile {
  readonly path: string
  /** The name of the file on the client's machine. */
  readonly name: string
  readonly keepId: boolean
}

async function importFile(owner: Owner, { path, name, keepId }: ImportedFile): Promise<ImportAnswer> {
  const { readExport } = await import('./read.ts')
  const exported = await readExport(path, name)
  const sessionId = keepId ? exported.id : owner.newId()
  await owner.importSession({ ...exported, id: sessionId, pieces: withFullName(exported.pieces, owner.agents) })
  return { sessionId }
}

/** A session of another tool names the default agent as users write it; an exported one has the full name already. */
async function* withFullName(
  pieces: AsyncIterable<readonly Entry[]>,
  agents: Agents,
): AsyncGenerator<readonly Entry[]> {
  for await (const [first, ...rest] of pieces) {
    if (first === undefined) continue
    if (first.kind !== 'session_created' || first.agent.includes(':')) yield [first, ...rest]
    else yield [{ ...first, agent: await agents.resolveAgentName(first.agent, { cwd: first.cwd }) }, ...rest]
  }
}

function parseImport(params: unknown): ImportOrder {
  const { path, upload, name = 'the uploaded file', keepId = false } = fieldsOf(params)
  if (typeof keepId !== 'boolean') return failParams('_parley/import', 'keepId must be true or false')
  if (typeof upload === 'string' && path === undefined && typeof name === 'string')
    return { from: { upload, name: name.slice(0, MAX_NAME) }, keepId }
  if (typeof path === 'string' && isAbsolute(path) && upload === undefined) return { from: { path }, keepId }
  return failParams('_parley/import', 'path must be an absolute path, or upload the id of an upload')
}

function parseUpload(params: unknown): { readonly upload: string | undefined; readonly part: Buffer } {
  const { upload, part } = fieldsOf(params)
  if (upload !== undefined && typeof upload !== 'string')
    return failParams('_parley/import/upload', 'upload must be a text')
  if (typeof part !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/u.test(part))
    return failParams('_parley/import/upload', 'part must be bytes in base64')
  return { upload, part: Buffer.from(part, 'base64') }
}

function fieldsOf(params: unknown): Readonly<Record<string, unknown>> {
  return (params ?? {}) as Readonly<Record<string, unknown>>
}

function failParams(method: string, reason: string): never {
  return fail('PARAMS_INVALID', { method, reason })
}
