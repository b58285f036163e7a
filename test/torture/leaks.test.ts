/** Many sessions with many servers, and nothing that stays behind. */
import { readdirSync } from 'node:fs'
import { queryObjects } from 'node:v8'
import { Client } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { McpToolRegistry } from '../../src/adapters/tool-registry/mcp-tool-registry.ts'
import { McpServerLifecycle } from '../../src/adapters/mcp/host/mcp-server-lifecycle.ts'
import { StdioTransport } from '../../src/adapters/mcp/transport/stdio.ts'
import { startHttpServer } from '../fixtures/mcp/http-server.ts'
import { messageLog, openBench } from '../fixtures/mcp/servers.ts'
import { never, scriptedStdio } from '../fixtures/mcp/torture.ts'
import { carrying } from '../fixtures/process/running.ts'

const openFiles = (): number => readdirSync('/proc/self/fd').length

test('two dozen sessions with three servers each leave no process and no open file, however far they came', async () => {
  const bench = openBench({ limits: { graceMs: 100 } })
  const log = messageLog()
  const scripts = ['honest', 'has a grandchild that ignores every signal', 'stays at the end of its input']
  const servers = scripts.map((script) => Object.assign(scriptedStdio(script, log.path), { name: script.slice(0, 5) }))
  const counts: number[] = []
  try {
    for (let round = 0; round < 4; round++) {
      const sessions = Array.from({ length: 6 }, () => bench.open(servers))
      // In every other round they are closed while their servers still start.
      if (round % 2 === 0) await Promise.all(sessions.map((one) => one.ready(60_000, never)))
      await Promise.all(sessions.map((one) => one.close()))
      expect(carrying(bench.marker)).toEqual([])
      counts.push(openFiles())
    }
    expect(Math.max(...counts) - (counts[0] ?? 0)).toBeLessThan(10)
  } finally {
    await bench.close()
  }
}, 180_000)

const KINDS = { McpToolRegistry, McpServerLifecycle, Client, StdioTransport }

/** What one session of this test needs; the one that closed last may still stand on some stack. */
const ONE_SESSION = { Registry: 1, Server: 2, Client: 2, StdioTransport: 1 }

/** What the heap holds after a collection. */
function held(): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(KINDS).map(([name, kind]) => [name, queryObjects(kind, { format: 'count' })]),
  )
}

/** What of it is more than one session's. */
function tooMany(): readonly string[] {
  const allowed: Readonly<Record<string, number>> = ONE_SESSION
  return Object.entries(held()).flatMap(([name, count]) => (count > (allowed[name] ?? 0) ? [`${count} ${name}`] : []))
}

test('sessions that are closed leave nothing in memory: no registry, server, client or transport', async () => {
  const bench = openBench({ limits: { graceMs: 100 } })
  const web = await startHttpServer()
  const log = messageLog()
  const servers = [scriptedStdio('honest', log.path), { type: 'http', name: 'web', url: web.url, headers: [] }] as const
  const session = async (index: number): Promise<void> => {
    const registry = bench.host.open({ scope: `session ${index}`, cwd: '/', roots: ['/'], servers })
    registry.onChange(() => undefined)
    await registry.ready(60_000, never)
    // Its arguments are checked, and so is whatever that compiled.
    await registry.call('s__say', { text: 'hi' }, { signal: never })
    await registry.call('web__say', { text: 'hi' }, { signal: never })
    await registry.close()
  }
  try {
    for (let round = 0; round < 3; round++) {
      await Promise.all([0, 1, 2, 3].map((index) => session(round * 4 + index)))
    }
    // Twelve were open. A timer or a socket may let go of the last one a moment later.
    await expect.poll(tooMany).toEqual([])
  } finally {
    await bench.close()
    await web.close()
  }
}, 120_000)
