/** The tools of one session: one list over all of its servers, always current, each server on its own. */
import { fail } from '../../errors/parley-error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Signal } from '../../ports/signal.ts'
import type { ServerStatus, Tool, ToolCallOptions, ToolList, ToolRegistry } from '../../ports/tools.ts'
import { openCalls } from './calls.ts'
import type { ServerTool } from './connection.ts'
import { registryName, registryPrefix } from './names.ts'
import type { Lease } from './pool.ts'
import type { Server } from './server.ts'

export interface RegistryOptions {
  readonly clock: Clock
  /** Takes a share in each server; `changed` hears of its state and its tools. */
  readonly lease: (changed: () => void) => readonly Lease[]
  /** How long a call waits for a server that is still connecting. */
  readonly patienceMs: number
}

export function openRegistry({ clock, lease, patienceMs }: RegistryOptions): ToolRegistry {
  const listeners = new Set<(list: ToolList) => void>()
  const leases = lease(changed)
  const servers = leases.map(({ server }) => server)
  const calls = openCalls()
  /** How long each server that is connecting was waited for in vain. */
  const inVain = new Map<Server, number>()
  let list = picture(servers, 1)
  let closed: Promise<void> | undefined
  for (const server of servers) if (!server.config.lazy) server.start()

  function changed(): void {
    const { version } = list
    list = closed === undefined ? picture(servers, version + 1) : lastPicture(servers, version + 1)
    for (const listener of listeners) listener(list)
  }

  function connecting(whether: boolean): readonly Server[] {
    return servers.filter((server) => (server.status().state === 'connecting') === whether)
  }

  /** A server that is not connected yet may have the tool: the name says whose it would be. */
  async function find(name: string, options: ToolCallOptions): Promise<Found> {
    const found = lookUp(servers, name)
    if (found !== undefined) return found
    const candidates = servers.filter((server) => name.startsWith(registryPrefix(server.config.label)))
    for (const server of candidates) if (server.status().state === 'idle') server.start()
    await settled(candidates, { clock, limitMs: options.timeoutMs ?? patienceMs, signal: options.signal })
    return lookUp(servers, name) ?? fail('TOOL_UNKNOWN', { tool: name })
  }

  async function leave(): Promise<void> {
    calls.end()
    const gone = Promise.all(leases.map((one) => one.release()))
    changed()
    await gone
  }

  function close(): Promise<void> {
    // Set before anyone is told: whoever asks for the list then must see it closed.
    if (closed === undefined) {
      let resolve: (gone: Promise<void>) => void = () => undefined
      closed = new Promise((done) => (resolve = done))
      resolve(leave())
    }
    return closed
  }

  return {
    list: () => list,
    async ready(limitMs, signal) {
      if (closed !== undefined) return list
      for (const server of connecting(false)) inVain.delete(server)
      for (const server of servers) server.start()
      const worthIt = servers.filter((server) => (inVain.get(server) ?? -1) < limitMs)
      await settled(worthIt, { clock, limitMs, signal })
      if (!signal.aborted)
        for (const server of connecting(true)) inVain.set(server, Math.max(limitMs, inVain.get(server) ?? 0))
      return list
    },
    call: (name, args, options) =>
      calls.run(name, options, async (own) => {
        const { server, tool } = await find(name, own)
        return await server.call(tool, args, { ...own, name })
      }),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async retire() {
      await calls.finish()
      await close()
    },
    close,
  }
}

interface Found {
  readonly server: Server
  readonly tool: ServerTool
}

function lookUp(servers: readonly Server[], name: string): Found | undefined {
  for (const server of servers) {
    const tool = server.knownTools().find(({ original }) => registryName(server.config.label, original) === name)
    if (tool !== undefined) return { server, tool }
  }
  return undefined
}

function picture(servers: readonly Server[], version: number): ToolList {
  const tools = servers.flatMap((server) => server.tools().map((tool) => describe(server, tool)))
  return Object.freeze({
    version,
    tools: Object.freeze(tools),
    servers: Object.freeze(servers.map((server) => server.status())),
  })
}

/** Its servers may live on in another registry; for this one they are closed. */
function lastPicture(servers: readonly Server[], version: number): ToolList {
  const statuses = servers.map((server): ServerStatus => {
    const { name, title } = server.status()
    return { name, title, state: 'closed', tools: 0 }
  })
  return Object.freeze({ version, tools: Object.freeze([]), servers: Object.freeze(statuses) })
}

function describe({ config }: Server, tool: ServerTool): Tool {
  const { original, title, description, inputSchema, readOnly } = tool
  const name = registryName(config.label, original)
  return { name, original, title, description, inputSchema, server: config.label, trusted: config.trusted, readOnly }
}

interface Patience {
  readonly clock: Clock
  readonly limitMs: number
  readonly signal: Signal
}

/** Resolves when none of the servers is connecting, when the limit is over, or when the signal aborts. */
async function settled(servers: readonly Server[], { clock, limitMs, signal }: Patience): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const timer = clock.after(limitMs, resolve)
    signal.addEventListener('abort', resolve, { once: true })
    void Promise.all(servers.map((server) => server.settled())).then(() => {
      timer.cancel()
      signal.removeEventListener('abort', resolve)
      resolve()
    })
  })
}
