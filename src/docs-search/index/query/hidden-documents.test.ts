import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newDirectory } from '../../../../test/fixtures/process/new-directory.ts'
import { IndexClient } from '../worker/index-client.ts'

const SECRET_URI = 'doc://work/secret/notes.md'
const LEAKS = /4711|Hidden heading|notes\.md/u
const root = newDirectory({
  'open.md': '# Open\n\nThe harbour is open.\n',
  'secret/notes.md': '# Hidden heading\n\nThe code of the harbour is 4711.\n',
})
const limits = { files: 100, bytes: 1_000_000 }
let index: IndexClient

beforeAll(() => {
  const workerUrl = new URL('../../../../dist/docs-worker.cjs', import.meta.url)
  const options = { collections: [{ name: 'work', path: root }], limits, poll: false, code: false }
  index = new IndexClient(workerUrl, options, {
    log: () => undefined,
    present: () => undefined,
    changed: () => undefined,
  })
})

afterAll(() => index[Symbol.asyncDispose]())

const search = { query: 'harbour', mode: 'all', offset: 0, limit: 10 } as const
const scope = (denied: readonly string[]) => {
  return { collections: ['work'], access: { roots: [root], denied, asked: [], own: [] } }
}

/** Each of them reaches documents by way of the index. */
const OPERATIONS: Readonly<Record<string, (denied: readonly string[]) => Promise<unknown>>> = {
  passages: (denied) => index.passages({ ...search, ...scope(denied) }),
  documents: (denied) => index.documents({ ...search, ...scope(denied) }),
  list: (denied) => index.list({ limit: 10, ...scope(denied) }),
  read: (denied) => index.read({ uri: SECRET_URI, limit: 1_000, ...scope(denied) }),
  outline: (denied) => index.outline({ uri: SECRET_URI, ...scope(denied) }),
  show: (denied) => index.show({ uri: SECRET_URI, ...scope(denied) }),
}

describe.each(Object.entries(OPERATIONS))('a document that a rule denies is not revealed by %s', (_name, operation) => {
  test('which has it without the rule', async () => {
    expect(JSON.stringify(await operation([]))).toMatch(LEAKS)
  })

  test('neither in its answer nor in its error', async () => {
    const answer = await operation(['secret/**']).then(JSON.stringify, (error: Error) => error.message)
    expect(answer.replaceAll('secret/notes.md', '')).not.toMatch(LEAKS)
  })
})

test('a document that a rule denies is in no count of hits, and the answer says that one was left out', async () => {
  const { total, notice } = await index.passages({ ...search, ...scope(['secret/**']) })
  expect(total).toBe(1)
  expect(notice).toBe('Left out, because rules of permission keep them from the document search: 1.')
})

test('a document that a rule denies is refused in the same words whether it is there or not', async () => {
  const refusals = ['notes', 'absent'].map(async (name) => {
    const read = index.read({ uri: `doc://work/secret/${name}.md`, limit: 1_000, ...scope(['secret/**']) })
    return await read.then(JSON.stringify, (error: Error) => error.message)
  })
  const [there, missing] = await Promise.all(refusals)
  expect(there).toContain('permission rule excludes')
  expect(missing).toBe(there?.replaceAll('notes', 'absent'))
})
