/** A server that has answered: its tools kept up to date, its calls checked, its end noticed. */
import type { Client } from '@modelcontextprotocol/client'
import { fail } from '../../../errors/parley-error.ts'
import type { Connection, ConnectRequest, ServerTool, Surroundings } from '../connection.ts'
import { openSchemas } from './arguments.ts'
import { callTool, reasonIn, type CallLine } from './call.ts'
import { coalesce } from './coalesce.ts'
import { followChanges } from './follow.ts'
import { isObject } from './json.ts'
import type { Link } from './link.ts'
import type { Redact } from './redact.ts'

export interface Attempt {
  readonly request: ConnectRequest
  readonly around: Surroundings
  readonly redact: Redact
}

export interface SessionEvents {
  readonly onChanged: () => void
  readonly onGone: (reason: string) => void
}

export interface Session {
  readonly client: Client
  readonly link: Link
  /** The tools of the listing that is under way or was the last, page by page. */
  readonly listed: ServerTool[]
  /** Who is told from now on. */
  readonly listen: (events: SessionEvents) => void
}

/** Throws, with nothing left open, when the tools cannot be listed. */
export async function serve(session: Session, attempt: Attempt): Promise<Connection> {
  const { client, link } = session
  const { request, around, redact } = attempt
  const over = new AbortController()
  const calls = new Set<Promise<unknown>>()
  let closed: Promise<void> | undefined

  function close(): Promise<void> {
    over.abort()
    closed ??= link.close()
    return closed
  }

  function lose(reason: string): void {
    if (over.signal.aborted) return
    over.abort()
    request.onLost(redact(reason))
  }

  const tools = await keepTools(session, attempt, { over: over.signal, lose }).catch(async (error: unknown) => {
    await close()
    throw new Error(`its tools could not be listed (${link.end() ?? reasonIn(error)})`)
  })
  const { clock, limits } = around
  const call = counted(caller({ client, clock, limits, redact, end: link.end, lose }, attempt), calls)
  const retire = async (): Promise<void> => {
    over.abort()
    await Promise.allSettled(calls)
    await close()
  }
  return { title: titleOf(client) ?? request.label, tools, call, retire, close }
}

function counted(call: Connection['call'], calls: Set<Promise<unknown>>): Connection['call'] {
  return async (...request) => {
    const running = call(...request)
    calls.add(running)
    try {
      return await running
    } finally {
      calls.delete(running)
    }
  }
}

interface Life {
  /** Aborts when the connection ends. */
  readonly over: AbortSignal
  readonly lose: (reason: string) => void
}

/** Resolves after the first listing with a view of the newest one. */
async function keepTools(
  session: Session,
  { request, around, redact }: Attempt,
  { over, lose }: Life,
): Promise<() => readonly ServerTool[]> {
  let tools: readonly ServerTool[] | undefined
  let changedEarly = false

  async function relist(): Promise<void> {
    try {
      tools = await listTools(session, around, over)
      if (!over.aborted) request.onTools()
    } catch (error) {
      // What is known stays valid until the server is lost or says more.
      if (!over.aborted)
        around.warn(`MCP server ${request.label} could not list its tools again: ${redact(reasonIn(error))}.`)
    }
  }

  const changes = coalesce(relist, { clock: around.clock, pauseMs: around.limits.listPauseMs, signal: over })
  const onChanged = (): void => {
    // Two listings at once would mix their pages.
    if (tools === undefined) changedEarly = true
    else changes.wish()
  }
  session.listen({ onChanged, onGone: lose })
  followChanges(session.client, { clock: around.clock, signal: over, onChanged, onGone: lose })
  tools = await listTools(session, around, request.signal)
  if (changedEarly) changes.wish()
  return () => tools ?? []
}

async function listTools(
  { client, listed }: Session,
  { limits }: Surroundings,
  signal: AbortSignal,
): Promise<readonly ServerTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  listed.length = 0
  const answer = await client.listTools(undefined, { cacheMode: 'refresh', timeout: limits.connectMs, signal })
  // The protocol layer may have left some out; and a name that comes twice means one tool, for it is called by name.
  const kept = new Set(answer.tools.map((tool) => tool.name))
  const byName = new Map<string, ServerTool>()
  for (const tool of listed) if (kept.has(tool.original) && !byName.has(tool.original)) byName.set(tool.original, tool)
  return [...byName.values()]
}

function caller(line: CallLine, { request, around, redact }: Attempt): Connection['call'] {
  const schemas = openSchemas((what, fault) => {
    around.warn(
      `MCP server ${request.label}: the ${what} is wrong and was not followed to the letter (${redact(fault)}).`,
    )
  })
  return async (tool, args = {}, options) => {
    if (!isObject(args)) return fail('TOOL_ARGUMENTS', { tool: options.name, reason: 'they must be an object' })
    const wrong = schemas.check(tool.inputSchema, args, `inputSchema of tool ${tool.original}`)
    if (wrong !== undefined) return fail('TOOL_ARGUMENTS', { tool: options.name, reason: wrong })
    const result = await callTool(line, { tool, args, options })
    if (tool.outputSchema !== undefined && !result.isError) {
      const odd = schemas.check(tool.outputSchema, result.structured, `outputSchema of tool ${tool.original}`)
      // It ran: what it said is worth more than what it should have said.
      if (odd !== undefined)
        around.warn(`MCP server ${request.label}: a result of tool ${tool.original} does not fit its outputSchema.`)
    }
    return result
  }
}

function titleOf(client: Client): string | undefined {
  const info = client.getServerVersion()
  return info?.title ?? info?.name
}
