/** The client that the official suite examines: our tool host as it is, with a person who says yes to everything. */
import { systemClock } from '../../../src/adapters/clock.ts'
import { openProcesses } from '../../../src/adapters/process/spawn.ts'
import { openToolHost } from '../../../src/adapters/tools/host.ts'
import type { ToolRegistry } from '../../../src/ports/tools.ts'
import { willing, type Credentials } from './willing-person.ts'

interface Context extends Credentials {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[]
}

/** Their servers answer neither the question for the newest protocol nor the handshake of the older ones. */
const SPEAK_UNASKED = /^(http-|sep-2322|json-schema)/

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context
const wire = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? ''
const url = process.argv.at(-1) ?? ''
const signal = new AbortController().signal

async function examine(): Promise<void> {
  const boot = { home: 'conformance', id: systemClock.id() }
  const processes = openProcesses({ boot, environment: process.env, clock: systemClock })
  const host = openToolHost({
    processes,
    clock: systemClock,
    clientInfo: { name: 'parley-conformance', version: '1.0.0' },
    elicitation: true,
    warn: (sentence) => console.error(sentence),
    authorize: () => willing(context),
    configured: () => (SPEAK_UNASKED.test(scenario) ? [{ name: 'suite', rules: { protocol: 'modern' } }] : []),
  })
  const registry = host.open({
    scope: 'conformance',
    cwd: '/',
    roots: ['/'],
    servers: [{ type: 'http', name: 'suite', url, headers: [] }],
  })
  try {
    const list = await registry.ready(60_000, signal)
    console.error(wire, JSON.stringify(list.servers))
    for (const { name, args } of wanted(registry)) await call(registry, name, args)
    // The suite counts a server that cannot be reached as an exit that is not zero.
    if (list.servers[0]?.state !== 'ready') process.exitCode = 1
  } finally {
    await registry.close()
    await processes.close()
  }
}

async function call(registry: ToolRegistry, name: string, args: unknown): Promise<void> {
  try {
    const result = await registry.call(name, args, {
      signal,
      onElicit: async () => ({ action: 'accept', content: {} }),
    })
    console.error(name, JSON.stringify(result).slice(0, 500))
  } catch (error) {
    console.error(name, String(error))
  }
}

/** What the scenario wants to be called; else every tool, with arguments made up from its schema. */
function wanted(registry: ToolRegistry): readonly { readonly name: string; readonly args: unknown }[] {
  const { tools } = registry.list()
  if (context.toolCalls !== undefined) {
    return context.toolCalls.map(({ name, arguments: args }) => ({ name: `suite__${name}`, args }))
  }
  return tools.map(({ name, inputSchema }) => ({ name, args: madeUp(inputSchema) }))
}

function madeUp(schema: unknown): Readonly<Record<string, unknown>> {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { type?: string }>> }
  return Object.fromEntries(Object.entries(properties).map(([key, { type }]) => [key, SAMPLES[type ?? ''] ?? 'text']))
}

const SAMPLES: Readonly<Record<string, unknown>> = { number: 1, integer: 1, boolean: true, object: {}, array: [] }

await examine()
