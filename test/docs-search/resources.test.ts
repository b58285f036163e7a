import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closeAfterEach, found, RawSession, serve, write } from './served.ts'

closeAfterEach()

interface Listed {
  readonly resources: readonly { readonly uri: string; readonly name: string }[]
  readonly nextCursor?: string
}

const GUIDE =
  '# Guide\n\nIntro.\n\n## Set up\n\nFirst.\n\n### On Linux\n\nSecond.\n\n## 使用 说明\n\n第三。\n\n## Set up\n\nAgain.\n'

async function only(
  files: Readonly<Record<string, string>>,
): Promise<{ session: RawSession; directory: string; base: string }> {
  const { server, directory } = await serve(files)
  const session = await RawSession.open(server)
  const { resources } = (await session.request('resources/list')) as Listed
  return { session, directory, base: /^doc:\/\/[^/]+/.exec(resources[0]?.uri ?? '')?.[0] ?? '' }
}

test.concurrent('every document is a resource, listed page by page, each once whatever comes and goes meanwhile', async () => {
  const { session, directory, base } = await only(
    Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`d/${String(i).padStart(3, '0')}.md`, `# T${i}\n\nx`])),
  )
  const first = (await session.request('resources/list')) as Listed
  expect(first.resources).toHaveLength(100)
  expect(first.resources[0]).toEqual({
    uri: `${base}/d/000.md`,
    name: expect.stringMatching(/\/d\/000\.md$/),
    title: 'T0',
    mimeType: 'text/markdown',
    size: 7,
    annotations: { lastModified: expect.stringMatching(/Z$/) },
  })
  await write(directory, { 'a.md': 'new' })
  await rm(join(directory, 'd/050.md'))
  await found(session, 'new', ['a.md'])
  const uris = first.resources.map(({ uri }) => uri)
  let cursor = first.nextCursor
  while (cursor !== undefined) {
    const page = (await session.request('resources/list', { cursor })) as Listed
    uris.push(...page.resources.map(({ uri }) => uri))
    cursor = page.nextCursor
  }
  expect(new Set(uris).size).toBe(250)
  expect(uris).toHaveLength(250)
  expect(await session.request('resources/list', { cursor: 'nonsense' })).toMatchObject({ code: -32602 })
})

test.concurrent('a resource is read whole or by section, and one that is not there has its own error', async () => {
  const { session, base } = await only({ '目录/guide one.md': GUIDE })
  const uri = `${base}/${encodeURIComponent('目录')}/guide%20one.md`
  const text = async (address: string) => {
    const { contents } = (await session.request('resources/read', { uri: address })) as {
      contents: { uri: string; mimeType: string; text: string }[]
    }
    expect(contents).toMatchObject([{ uri: address, mimeType: 'text/markdown' }])
    return contents[0]?.text
  }
  expect(await text(uri)).toBe(GUIDE)
  expect(await text(`${uri}#set-up`)).toBe('## Set up\n\nFirst.\n\n### On Linux\n\nSecond.\n\n')
  expect(await text(`${uri}#set-up-1`)).toBe('## Set up\n\nAgain.\n')
  expect(await text(`${uri}#${encodeURIComponent('使用-说明')}`)).toBe('## 使用 说明\n\n第三。\n\n')
  expect(await session.request('resources/read', { uri: `${base}/none.md` })).toMatchObject({
    code: -32602,
    data: { uri: `${base}/none.md` },
  })
  expect(await session.request('resources/read', { uri: `${uri}#nothing` })).toMatchObject({ code: -32602 })
})

test.concurrent('templates are completed: the collection, the path in it, the section', async () => {
  const { session, base } = await only({ 'guides/linux.md': GUIDE, 'guides/mac.md': 'x', 'other.md': 'x' })
  const { resourceTemplates } = (await session.request('resources/templates/list')) as {
    resourceTemplates: { uriTemplate: string }[]
  }
  const templates = resourceTemplates.map(({ uriTemplate }) => uriTemplate)
  expect(templates).toEqual(['doc://{collection}/{+path}', 'doc://{collection}/{+path}{#section}'])
  const collection = decodeURIComponent(base.slice('doc://'.length))
  const complete = async (name: string, value: string, chosen: object = {}) => {
    const params = {
      ref: { type: 'ref/resource', uri: templates[1] },
      argument: { name, value },
      context: { arguments: chosen },
    }
    return ((await session.request('completion/complete', params)) as { completion: object }).completion
  }
  expect(await complete('collection', collection.slice(0, 3))).toEqual({
    values: [collection],
    total: 1,
    hasMore: false,
  })
  expect(await complete('path', 'guides/', { collection })).toMatchObject({
    values: ['guides/linux.md', 'guides/mac.md'],
  })
  expect(await complete('path', 'nowhere', { collection })).toMatchObject({ values: [], total: 0 })
  const chosen = { collection, path: 'guides/linux.md' }
  expect(await complete('section', 'set', chosen)).toMatchObject({ values: ['set-up', 'set-up-1'] })
  const wrong = { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: '' } }
  expect(await session.request('completion/complete', wrong)).toMatchObject({ code: -32602 })
})

test.concurrent('who subscribed to a document, or to a section of it, hears of its changes, and of no other', async () => {
  const { session, directory, base } = await only({ 'a.md': 'alpha', 'b.md': '# B\n\nbeta', 'c.md': 'gamma' })
  const news = await session.listen()
  const next = news.next()
  for (const uri of [`${base}/a.md`, `${base}/b.md#b`, `${base}/c.md`]) {
    expect(await session.request('resources/subscribe', { uri })).toEqual({})
  }
  expect(await session.request('resources/unsubscribe', { uri: `${base}/c.md` })).toEqual({})
  expect(await session.request('resources/subscribe', { uri: `${base}/none.md` })).toMatchObject({
    code: -32602,
    data: { uri: `${base}/none.md` },
  })
  const updated = (uri: string) =>
    `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"${uri}"}}`
  await write(directory, { 'c.md': 'changed', 'a.md': 'changed again', 'b.md': '# B\n\nchanged too' })
  // A document that is looked at while it is written has changed twice.
  const told = new Set([(await next).value])
  while (told.size < 2) told.add((await news.next()).value)
  expect(told).toEqual(new Set([updated(`${base}/a.md`), updated(`${base}/b.md#b`)]))
  await rm(join(directory, 'c.md'))
  let last = (await news.next()).value
  while (told.has(last)) last = (await news.next()).value
  expect(last).toBe('{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}')
  await news.return(undefined)
})
