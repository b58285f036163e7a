/** An open connection to a server: keeps its offer up to date, checks calls against its schemas, and notices its end. */
import type { Client } from '@modelcontextprotocol/client'
import { fail } from '../../../../errors/parley-error.ts'
import { coerceArguments } from '../../../checking/coerce-arguments.ts'
import { Schemas } from '../../../checking/schemas.ts'
import type { CallOptions, Connection, ServerTool, About } from '../../host/mcp-types.ts'
import type { ConnectAttempt, ClientSession } from './connect-attempt.ts'
import { LoginNeeded } from '../../transport/authorization.ts'
import { callTool, type CallContext, complete, prompt, read } from '../request/call.ts'
import { isObject } from '../../../checking/json.ts'
import { trackOffer } from '../lists/offer.ts'
import { reasonIn } from '../request/request.ts'
import { type Watching, watchResources } from '../lists/change-notifications.ts'

/** Throws, with nothing left open, when the tools cannot be listed. */
export async function openConnection(session: ClientSession, attempt: ConnectAttempt): Promise<Connection> {
  const { client, transport, openCalls } = session
  const { request, context, redact } = attempt
  const over = new AbortController()
  const open = new Set<Promise<unknown>>()
  let closed: Promise<void> | undefined

  function close(): Promise<void> {
    if (closed === undefined && transport.end() === undefined) watching.end()
    over.abort()
    closed ??= transport.close()
    return closed
  }

  function lose(reason: string): void {
    if (over.signal.aborted) return
    over.abort()
    // The next server at this URL may be a newer version, and asking costs one request. For a process the cache lasts a day.
    if (request.server.type !== 'stdio') context.protocolCache.forget(request.server)
    request.onLost(redact(reason))
  }

  const watching = watchResources(client, {
    clock: context.clock,
    signal: over.signal,
    onChanged: () => void (over.signal.aborted || request.onOffer()),
    onGone: lose,
  })
  const kept = await trackOffer(session, attempt, { over: over.signal, lose }).catch(async (error: unknown) => {
    await close()
    if (error instanceof LoginNeeded) throw error
    throw new Error(`its tools could not be listed (${transport.end() ?? reasonIn(error)})`)
  })
  watching.resume(request.watched)
  const { clock, limits } = context
  const { authorization } = attempt
  const callContext = {
    client,
    authorization,
    openCalls,
    label: request.label,
    roots: request.roots,
    clock,
    limits,
    redact,
    end: transport.end,
    lose,
  }
  const counted = counting(open)
  const schemas = new Schemas(context.checker, (what, fault) =>
    session.warn(`the ${what} is wrong and was not followed to the letter (${fault})`),
  )
  const call = caller(callContext, schemas, session)
  return {
    about: aboutOf(client, request.label),
    offer: () => watching.marked(kept.offer()),
    watched: () => watching.watched(),
    refreshIfStale: kept.refreshIfStale,
    latencyMs: kept.latencyMs,
    call: (tool, args, options) => counted(call(tool, args, options)),
    read: (uri, options) => counted(watched(watching, uri, () => read(callContext, uri, options))),
    prompt: (original, args, options) => counted(prompt(callContext, { original, args }, options)),
    complete: (wanted, options) => counted(complete(callContext, wanted, options)),
    rootsChanged() {
      // A modern server asks for the roots with each call. If the notification is lost, the server learns them at its next request.
      if (client.getProtocolEra() === 'legacy') client.sendRootsListChanged().catch(() => undefined)
    },
    async drain() {
      over.abort()
      await Promise.allSettled(open)
      await close()
    },
    close,
  }
}

/** Subscribes before it reads, so that no change is missed in between. */
async function watched<Result>(watching: Watching, uri: string, reading: () => Promise<Result>): Promise<Result> {
  watching.watch(uri)
  try {
    return await reading()
  } catch (error) {
    watching.forget(uri)
    throw error
  }
}

function counting(open: Set<Promise<unknown>>): <Result>(running: Promise<Result>) => Promise<Result> {
  return async (running) => {
    open.add(running)
    try {
      return await running
    } finally {
      open.delete(running)
    }
  }
}

function caller(callContext: CallContext, schemas: Schemas, { warn }: ClientSession) {
  return async (tool: ServerTool, args: unknown, options: CallOptions) => {
    const given = args ?? {}
    if (!isObject(given)) return fail('TOOL_ARGUMENTS', { tool: options.name, reason: 'they must be an object' })
    const what = `inputSchema of tool ${tool.serverToolName}`
    const fit = await coerceArguments(given, tool.inputSchema, (value) => schemas.check(tool.inputSchema, value, what))
    if ('wrong' in fit) return fail('TOOL_ARGUMENTS', { tool: options.name, reason: fit.wrong })
    const result = await callTool(callContext, { tool, args: fit.args, options })
    if ('pause' in result) return result
    if (tool.outputSchema !== undefined && !result.isError) {
      const odd = await schemas.check(
        tool.outputSchema,
        result.structured,
        `outputSchema of tool ${tool.serverToolName}`,
      )
      // The tool ran, so its result is kept even if it does not match the schema.
      if (odd !== undefined) warn(`a result of tool ${tool.serverToolName} does not fit its outputSchema`)
    }
    return result
  }
}

/** Protocol features that a server may have and that Parley does not use yet. */
const UNUSED = ['logging', 'tasks', 'experimental', 'extensions'] as const

function aboutOf(client: Client, label: string): About {
  const info = client.getServerVersion()
  const era = client.getProtocolEra()
  const protocol = client.getNegotiatedProtocolVersion()
  const has = client.getServerCapabilities() as Readonly<Record<string, unknown>> | undefined
  const unused = UNUSED.filter((feature) => isObject(has?.[feature]))
  return {
    title: info?.title ?? info?.name ?? label,
    speaks: {
      ...(era !== undefined && { era }),
      ...(protocol !== undefined && { protocol }),
      ...(unused.length > 0 && { unused }),
    },
  }
}
