import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { binary } from '../e2e/parley.ts'
import { parley } from '../e2e/cli.ts'
import { runs, until } from '../fixtures/process/running.ts'
import { eventually } from '../fixtures/process/eventually.ts'
import { atEndOfTest, closeAfterEach, directoryWith, found, KEY, RawSession, serve } from './served.ts'

closeAfterEach()

interface Heard {
  readonly client: Client
  /** The collections that the search tool names after each change it was told of. */
  readonly enums: readonly (readonly string[])[]
  readonly resources: () => number
}

type Transport = StreamableHTTPClientTransport | StdioClientTransport

/** A client of the official SDK that lists the tools anew whenever it is told to. */
async function listening(transport: Transport, mode: 'auto' | 'legacy'): Promise<Heard> {
  const enums: (readonly string[])[] = []
  let resources = 0
  const client = new Client(
    { name: 'test', version: '0.0.0' },
    {
      versionNegotiation: { mode },
      listChanged: {
        tools: {
          debounceMs: 0,
          onChanged: (_, tools) =>
            void enums.push(collectionsIn(tools?.find(({ name }) => name === 'search_documents'))),
        },
        resources: { debounceMs: 0, onChanged: () => void (resources += 1) },
      },
    },
  )
  await client.connect(transport)
  atEndOfTest(() => client.close())
  return { client, enums, resources: () => resources }
}

function collectionsIn(tool: unknown): readonly string[] {
  const { inputSchema } = (tool ?? {}) as { inputSchema?: { properties?: { scope?: { items?: { enum?: string[] } } } } }
  return inputSchema?.properties?.scope?.items?.enum ?? []
}

function http(url: string): Transport {
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { 'X-API-Key': KEY } } })
}

test.concurrent.each(['auto', 'legacy'] as const)(
  'a collection that is added or removed at run time is in the tools at once, and every client is notified (%s)',
  async (mode) => {
    const parent = await directoryWith({ 'notes/a.md': 'alpha', 'manuals/b.md': 'alpha' })
    const { server } = await serve({}, { directories: [join(parent, 'notes')] })
    const { client, enums, resources } = await listening(http(server.url), mode)
    const search = async () => {
      const answer = await client.callTool({
        name: 'search_documents',
        arguments: { query: 'alpha', scope: ['manuals'] },
      })
      return answer.isError === true ? 'refused' : (answer.structuredContent as { total: number }).total
    }
    expect(await search()).toBe('refused')
    server.setAdded([{ name: 'manuals', path: join(parent, 'manuals') }])
    await eventually(async () => expect(await search()).toBe(1))
    await eventually(() => expect(enums.at(-1)).toEqual(['notes', 'manuals']))
    await eventually(() => expect(resources()).toBeGreaterThan(0))
    server.setAdded([])
    await eventually(() => expect(enums.at(-1)).toEqual(['notes']))
    expect(await search()).toBe('refused')
  },
)

test.concurrent('a directory inside another one has its documents for itself, and none is found twice', async ({
  expect,
}) => {
  const files = { 'a/top.md': 'alpha', 'a/b/deep.md': 'alpha', 'a/c/left-out.md': 'alpha', 'a/.gitignore': 'c/\n' }
  const parent = await directoryWith(files)
  await symlink(join(parent, 'a'), join(parent, 'same'))
  const [a, b, c, same] = ['a', 'a/b', 'a/c', 'same'].map((name) => join(parent, name))
  const { server } = await serve({}, { directories: [a ?? '', a ?? '', b ?? '', c ?? '', same ?? ''] })
  const session = await RawSession.open(server)
  const uris = async () => {
    const { structuredContent } = await session.call('search_documents', { query: 'alpha', limit: 20 })
    return (structuredContent as { results: readonly { uri: string }[] }).results.map(({ uri }) => uri.split('#')[0])
  }
  await expect
    .poll(async () => (await uris()).toSorted())
    .toEqual(['doc://a/top.md', 'doc://b/deep.md', 'doc://c/left-out.md'])
})

test.concurrent('a search names its collections, one or several; an unknown one is answered with those there are', async () => {
  const parent = await directoryWith({ 'one/a.md': 'alpha', 'two/b.md': 'alpha', 'three/c.md': 'alpha' })
  const { server } = await serve({}, { directories: ['one', 'two', 'three'].map((name) => join(parent, name)) })
  const session = await RawSession.open(server)
  await found(session, 'alpha', ['a.md', 'b.md', 'c.md'])
  const files = async (scope: unknown) => {
    const { structuredContent } = await session.call('search_documents', { query: 'alpha', scope })
    return (structuredContent as { results: { file: string }[] }).results.map(({ file }) => file)
  }
  expect(await files('two')).toEqual(['b.md'])
  expect(await files(['one', 'three'])).toEqual(['a.md', 'c.md'])
  expect(await files([])).toHaveLength(3)
  const unknown = await session.call('search_documents', { query: 'alpha', scope: ['four'] })
  expect(unknown).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/"four".*one, two, three/) }],
  })
})

test.concurrent.each(['auto', 'legacy'] as const)(
  'over stdio the same is served, and told of: also what a command adds meanwhile (%s)',
  async (mode) => {
    const home = await directoryWith({ 'notes/a.md': 'alpha', 'manuals/b.md': 'beta' })
    const env = { PATH: process.env['PATH'] ?? '', PARLEY_HOME: home }
    const args = [binary, 'docs', join(home, 'notes'), '--stdio']
    const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' })
    const { client, enums } = await listening(transport, mode)
    const search = async (query: string) =>
      (await client.callTool({ name: 'search_documents', arguments: { query } })).structuredContent
    // The documents are read while it answers.
    await eventually(async () => expect(await search('alpha')).toMatchObject({ total: 1, results: [{ file: 'a.md' }] }))
    expect((await client.listResources()).resources).toMatchObject([{ uri: 'doc://notes/a.md' }])
    expect(await parley(['docs', 'add', 'manuals', join(home, 'manuals')], { home })).toMatchObject({ code: 0 })
    await eventually(() => expect(enums.at(-1)).toEqual(['notes', 'manuals']))
    await eventually(async () => expect(await search('beta')).toMatchObject({ total: 1 }))
    const { pid } = transport
    await client.close()
    await until(() => !runs(pid ?? 0))
  },
)
