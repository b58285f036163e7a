/** The client that the official suite examines: our tool host as it is, with a person who says yes to everything. */
import { systemClock } from '../../../src/adapters/clock.ts'
import { openProcesses } from '../../../src/adapters/process/open-processes.ts'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openToolHost } from '../../../src/adapters/tool-registry/host.ts'
import { DirectoryLogins } from '../../../src/adapters/mcp/oauth/logins.ts'
import { openChecker } from '../../fixtures/tools/checker.ts'
import type { ToolRegistry } from '../../../src/ports/tools.ts'
import { willing } from './willing-person.ts'

interface Context {
  readonly client_id?: string
  readonly client_secret?: string
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[]
}

const LOG_IN = 'suite__log_in'
const MOST_LOGINS = 2

/** Their servers answer neither the question for the newest protocol nor the handshake of the older ones. */
const SPEAK_UNASKED = /^(http-|sep-2322|json-schema)/

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context
const wire = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? ''
const url = process.argv.at(-1) ?? ''
const rules = SPEAK_UNASKED.test(scenario) ? ({ protocol: 'modern' } as const) : {}
const { client_id: clientId, client_secret: clientSecret } = context
const suite = {
  isProcess: false,
  identity: 'suite',
  locate: async () => ({ type: 'http', name: 'suite', url, headers: [] }) as const,
  login: {
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
  },
}
const signal = new AbortController().signal

async function examine(): Promise<void> {
  const boot = { home: 'conformance', id: systemClock.id() }
  const processes = openProcesses({ boot, environment: process.env, clock: systemClock })
  const checker = openChecker()
  const host = openToolHost({
    processes,
    checker,
    clock: systemClock,
    clientInfo: { name: 'parley-conformance', version: '1.0.0' },
    elicitation: true,
    warn: (sentence) => console.error(sentence),
    logins: new DirectoryLogins({ directory: mkdtempSync(join(tmpdir(), 'parley-conformance-')), clock: systemClock }),
    configured: () => [{ name: 'suite', rules, joins: { ...suite, rules } }],
  })
  const registry = host.open({
    scope: 'conformance',
    cwd: '/',
    roots: ['/'],
    servers: [],
  })
  try {
    await registry.ready(60_000, signal)
    // One of them moves to another authorization server after the first login.
    for (let logins = 0; logins < MOST_LOGINS && wantsLogin(registry); logins++) await call(registry, LOG_IN, {})
    const list = registry.list()
    console.error(wire, JSON.stringify(list.servers))
    for (const { name, args } of wanted(registry)) await call(registry, name, args)
    // The suite counts a server that cannot be reached as an exit that is not zero.
    if (list.servers[0]?.state !== 'ready') process.exitCode = 1
  } finally {
    await registry.close()
    await host.close()
    await processes.close()
    await checker.close()
  }
}

function wantsLogin(registry: ToolRegistry): boolean {
  return registry.list().tools.some(({ name }) => name === LOG_IN)
}

async function call(registry: ToolRegistry, name: string, args: unknown): Promise<void> {
  try {
    const result = await registry.call(name, args, {
      signal,
      onElicit: willing,
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

/** The suite starts all clients at once; they work in turn. */
async function admitted(): Promise<boolean> {
  const { PARLEY_TURNSTILE: path, PARLEY_SCENARIOS: wantedOnes = scenario } = process.env
  if (!wantedOnes.split(' ').includes(scenario)) return false
  if (path === undefined) return true
  const socket = connect(path)
  await once(socket, 'data')
  socket.unref()
  return true
}

if (await admitted()) await examine()
