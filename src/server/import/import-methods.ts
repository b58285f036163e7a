/** Brings sessions in, from a file or from an agent: the server reads them itself, since it alone may append. */
import { isAbsolute } from 'node:path'
import { fail } from '../../errors/parley-error.ts'
import type { Agents } from '../../ports/agent.ts'
import type { Entry } from '../../session/domain/entries.ts'
import type { AgentImportAnswer } from '../agents/import-sessions.ts'
import type { Owner } from '../compose/compose.ts'

export interface ImportOrder {
  /** Absolute, on the machine of the server. */
  readonly path: string
  /** The id that the session had, if it is free. */
  readonly keepId: boolean
}

export interface ImportAnswer {
  readonly sessionId: string
}

/** The methods of the wire; they are for those who share a machine and a user with the server. */
export function importMethods(owner: Owner): Readonly<Record<string, (params: unknown) => Promise<unknown>>> {
  return {
    '_parley/import': async (params) => importFile(owner, parseImport(params)),
    '_parley/agents/import': async (params) => importFromAgent(owner, params),
  }
}

async function importFromAgent(owner: Owner, params: unknown): Promise<AgentImportAnswer> {
  const { parseAgentImport } = await import('../agents/import-sessions.ts')
  const order = parseAgentImport(params)
  return (await owner.agentImports()).run(order)
}

async function importFile(owner: Owner, { path, keepId }: ImportOrder): Promise<ImportAnswer> {
  const { readExport } = await import('./read.ts')
  const exported = await readExport(path)
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
  const { path, keepId = false } = (params ?? {}) as Readonly<Record<string, unknown>>
  if (typeof path !== 'string' || !isAbsolute(path)) return refuse('path must be an absolute path')
  if (typeof keepId !== 'boolean') return refuse('keepId must be true or false')
  return { path, keepId }
}

function refuse(reason: string): never {
  return fail('PARAMS_INVALID', { method: '_parley/import', reason })
}
