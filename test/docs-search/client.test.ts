import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { closeAfterEach, type FoundPassages, KEY, serve } from './served.ts'

closeAfterEach()

async function connected(url: string, mode: 'auto' | 'legacy', changed: () => void): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '0.0.0' },
    { versionNegotiation: { mode }, listChanged: { tools: { onChanged: changed } } },
  )
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${KEY}` } },
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

test.each([
  ['auto', '2026-07-28'],
  ['legacy', '2025-11-25'],
] as const)('the official client finds documents and learns of changes (%s: %s)', async (mode, version) => {
  const { server, directory } = await serve({ 'a.md': '# 存储\n\n用软RAID做阵列。' })
  let changed = () => {}
  const change = new Promise<void>((resolve) => (changed = resolve))
  const client = await connected(server.url, mode, () => changed())
  expect(client.getNegotiatedProtocolVersion()).toBe(version)
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('search_documents')
  const answer = await client.callTool({ name: 'search_documents', arguments: { query: '软RAID' } })
  expect(answer.structuredContent as FoundPassages).toMatchObject({ total: 1, results: [{ file: 'a.md', line: 3 }] })
  await rm(directory, { recursive: true })
  await change
  expect((await client.listTools()).tools).toEqual([])
})
