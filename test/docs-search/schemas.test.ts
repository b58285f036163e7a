import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AtEnd, closeAfterEach, directoryWith, RawSession, serve, shared, type ToolAnswer } from './served.ts'

closeAfterEach()

const FILES = {
  'notes/setup.md': '---\ntitle: Setup\n---\n\n# Setup\n\nalpha 阵列\n\n## On Linux\n\nbeta\n\n## On Linux\n\ngamma\n',
  'notes/empty.md': '',
  'notes/a page.html': '<title>Page</title><h1>One</h1><p>alpha</p><h3>Three</h3>beta',
  'notes/卷/文档.txt': `阵列\n${'长行'.repeat(3_000)}\nalpha 𠮷\n`,
  'other/plain': 'alpha',
}
const URIS = [
  'doc://notes/setup.md',
  'doc://notes/empty.md',
  'doc://notes/a%20page.html',
  'doc://notes/%E5%8D%B7/%E6%96%87%E6%A1%A3.txt',
]

/** Mostly what a tool understands, and now and then anything at all. */
const or = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: fc.jsonValue() })
const cursor = fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.string() })
const query = fc.oneof(
  fc.constantFrom('alpha', '阵列', 'alpha beta', 'On Linux', 'absent', '"', 'AND (', 'x'.repeat(1_001)),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const uri = fc
  .tuple(
    fc.constantFrom(...URIS, 'doc://notes/absent.md', 'doc://', 'file:///etc/passwd'),
    fc.constantFrom('', '#L3', '#L99999', '#on-linux', '#absent', '#%'),
  )
  .map((parts) => parts.join(''))
const scope = fc.oneof(fc.constantFrom('notes', ['notes'], ['notes', 'other'], [], ['absent'], null))
const whole = (least: number, most: number) => fc.oneof(fc.integer({ min: least - 1, max: most + 1 }), fc.constant('3'))

const ARGUMENTS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  search_documents: fc.record(
    {
      query: or(query),
      mode: or(fc.constantFrom('all', 'best', 'phrase')),
      scope: or(scope),
      updated_after: or(fc.constantFrom('2020-01-01', '2999-01-01T00:00:00Z', 'soon')),
      limit: or(whole(1, 50)),
      cursor,
    },
    { requiredKeys: ['query'] },
  ),
  read_document: fc.record(
    {
      uri: or(uri),
      section: or(fc.constantFrom('Setup > On Linux', 'absent')),
      offset: or(whole(0, 10_000)),
      limit: or(whole(1, 50_000)),
    },
    { requiredKeys: ['uri'] },
  ),
  list_documents: fc.record(
    { scope: or(scope), path: or(fc.constantFrom('', 'set', '卷/', '%')), limit: or(whole(1, 200)), cursor },
    { requiredKeys: [] },
  ),
  outline: fc.record({ uri: or(uri) }, { requiredKeys: [] }),
  MinDocGlobalSearch: fc.record({ keyword: or(query), pageIndex: or(whole(1, 3)) }, { requiredKeys: ['keyword'] }),
}

async function library(atEnd?: AtEnd) {
  const parent = await directoryWith(FILES, atEnd)
  const { server, log } = await serve({}, { directories: [join(parent, 'notes'), join(parent, 'other')] }, atEnd)
  const session = await RawSession.open(server)
  const { tools } = (await session.request('tools/list')) as { tools: { name: string; outputSchema: object }[] }
  const ajv = new Ajv2020()
  return {
    parent,
    log,
    session,
    schemas: new Map(tools.map(({ name, outputSchema }) => [name, ajv.compile(outputSchema)])),
  }
}

const unchanged = shared(library)

/** A success is what the schema says, and an error a sentence that says what to do, without a result that could be taken for one. */
function check(schema: ValidateFunction | undefined, { content, isError, structuredContent }: ToolAnswer): boolean {
  expect(content.length).toBeGreaterThan(0)
  for (const { type, text } of content) expect([type, typeof text]).toEqual(['text', 'string'])
  if (isError === true) {
    expect(structuredContent).toBeUndefined()
    expect(content[0]?.text).toMatch(/^(?:[A-Z]|doc:).{20,}\.$/s)
    expect(content[0]?.text).not.toMatch(/undefined|internal error|SQLITE|fts5/i)
  } else {
    schema?.(structuredContent)
    expect(schema?.errors ?? null).toBeNull()
    expect(schema).toBeDefined()
  }
  return isError !== true
}

test.each(Object.keys(ARGUMENTS))('whatever %s is asked, its answer is what its schema says', async (name) => {
  const { session, schemas, log } = await unchanged()
  let [answers, errors] = [0, 0]
  await fc.assert(
    fc.asyncProperty(ARGUMENTS[name] ?? fc.constant({}), async (args) => {
      if (check(schemas.get(name), await session.call(name, args))) answers += 1
      else errors += 1
    }),
    { numRuns: 80 },
  )
  // It was shown both.
  expect([answers > 0, errors > 0]).toEqual([true, true])
  // What is not in the catalogue is told to the log, and to nobody else.
  expect(log.filter((line) => line.includes('failed'))).toEqual([])
})

test('every page that a cursor leads to is what the schema says', async () => {
  const { session, schemas } = await unchanged()
  for (const [name, args] of [
    ['search_documents', { query: 'alpha', limit: 1 }],
    ['list_documents', { limit: 1 }],
  ] as const) {
    let pages = 0
    for (let next: string | undefined, first = true; first || next !== undefined; first = false) {
      const answer = await session.call(name, next === undefined ? args : { ...args, cursor: next })
      expect(check(schemas.get(name), answer)).toBe(true)
      next = (answer.structuredContent as { nextCursor?: string }).nextCursor
      pages += 1
    }
    expect(pages).toBeGreaterThan(2)
  }
})

test('a tool of a collection that is gone answers with an error, not with an empty result', async () => {
  const { parent, session, schemas } = await library()
  await session.call('list_documents', {})
  for (const name of ['notes', 'other']) await rename(join(parent, name), join(parent, `${name}-away`))
  await expect.poll(async () => (await session.call('list_documents', {})).isError).toBe(true)
  for (const [name, args] of Object.entries({
    search_documents: { query: 'alpha' },
    read_document: { uri: URIS[0] },
    outline: { uri: URIS[0] },
    list_documents: {},
    MinDocGlobalSearch: { keyword: 'alpha' },
  })) {
    expect([name, check(schemas.get(name), await session.call(name, args))]).toEqual([name, false])
  }
})
