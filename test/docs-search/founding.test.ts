import { expect, test } from 'vitest'
import { closeAfterEach, INITIALIZE, KEY, raw, serve } from './served.ts'

closeAfterEach()

const JSON_ONLY = { 'Content-Type': 'application/json' }
const KEYS_OF_A_HIT = [
  'author',
  'book_id',
  'book_identify',
  'book_name',
  'create_time',
  'description',
  'doc_id',
  'doc_name',
  'identify',
  'modify_time',
  'search_type',
]

test('the founding exchange works as it is written, without an Accept header and with the key in the address', async () => {
  const { server } = await serve({ 'raid.md': '# 存储\n\n用软RAID做阵列。\n', 'other.md': '# 别的\n\n没有。\n' })

  const first = await raw(server, {
    body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"example-client","version":"1.0.0"}}}',
  })
  expect(first.status).toBe(200)
  expect(first.headers['content-type']).toBe('application/json')
  expect(first.headers['content-length']).toBe(String(first.text.length))
  expect(first.headerNames).toEqual(expect.arrayContaining(['Content-Type', 'Mcp-Session-Id']))
  const id = String(first.headers['mcp-session-id'])
  expect(id).toMatch(/^mcp-session-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(first.text).toBe(
    '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{}},"serverInfo":{"name":"parley-docs","version":"0.0.0"}}}',
  )

  const headers = { ...JSON_ONLY, 'Mcp-Session-Id': id }
  const second = await raw(server, { headers, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' })
  expect([second.status, second.text, second.headers['content-length']]).toEqual([202, '', '0'])

  const third = await raw(server, { headers, body: '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' })
  expect(third.status).toBe(200)
  expect(third.headers['content-type']).toBe('application/json')
  expect(third.text).toMatch(/^\{"jsonrpc":"2.0","id":2,"result":\{"tools":\[/)
  const { tools } = (JSON.parse(third.text) as { result: { tools: Record<string, unknown>[] } }).result
  expect(tools.map(({ name }) => name)).toEqual([
    'MinDocGlobalSearch',
    'search_documents',
    'read_document',
    'list_documents',
    'outline',
  ])
  for (const tool of tools) {
    expect(tool).toMatchObject({
      title: expect.any(String),
      description: expect.any(String),
      inputSchema: { type: 'object' },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    })
  }
  expect(tools[0]).toMatchObject({
    inputSchema: { properties: { keyword: { type: 'string' }, pageIndex: { type: 'integer', minimum: 1 } } },
  })

  const fourth = await raw(server, {
    headers,
    body: '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"MinDocGlobalSearch","arguments":{"keyword":"软RAID","pageIndex":1}}}',
  })
  const { id: answered, result } = JSON.parse(fourth.text) as {
    id: number
    result: { content: { type: string }[]; structuredContent: { result: object[]; totalCount: number } }
  }
  expect(answered).toBe(3)
  expect(result.content[0]).toMatchObject({ type: 'text' })
  expect(result.structuredContent.totalCount).toBe(1)
  expect(Object.keys(result.structuredContent)).toEqual(['result', 'totalCount'])
  expect(Object.keys(result.structuredContent.result[0] ?? {}).toSorted()).toEqual(KEYS_OF_A_HIT)
  expect(result.structuredContent.result[0]).toMatchObject({ doc_name: '存储', identify: 'raid.md' })

  expect((await raw(server, { headers, method: 'DELETE' })).status).toBe(200)
  expect((await raw(server, { headers, body: '{"jsonrpc":"2.0","id":4,"method":"tools/list"}' })).status).toBe(404)
})

test('/mcp and /mcp/ are the same, and neither redirects', async () => {
  const { server } = await serve({ 'a.md': 'a' })
  for (const path of [`/mcp?api_key=${KEY}`, `/mcp/?api_key=${KEY}`]) {
    expect((await raw(server, { path, body: INITIALIZE })).status).toBe(200)
  }
  expect((await raw(server, { path: `/mcp/x?api_key=${KEY}`, body: INITIALIZE })).status).toBe(404)
})

test('an older or unknown protocol version gets a version that this server speaks', async () => {
  const { server } = await serve({ 'a.md': 'a' })
  const answered = async (protocolVersion: string) => {
    const { text } = await raw(server, { body: { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion } } })
    return (JSON.parse(text) as { result: { protocolVersion: string } }).result.protocolVersion
  }
  expect(await answered('2024-11-05')).toBe('2024-11-05')
  expect(await answered('1999-01-01')).toBe('2025-11-25')
})
