/** The builtin tools are in every session beside those of MCP servers, and wrong calls are refused. */
import { afterEach, describe, expect, test } from 'vitest'
import { wordsIn } from '../../../../test/fixtures/word-list.ts'
import { type Stage, openStage } from '../../../../test/fixtures/tools/stage.ts'

const NAMES = wordsIn(`read_file write_file edit_file list_directory find_files search_text run_command command_output
  fetch_url plan search_documents read_document search_sessions read_result list_resources read_resource`)
const CHANGING = ['write_file', 'edit_file', 'run_command', 'fetch_url']

let stage: Stage
afterEach(() => stage?.close())

describe('the builtin tools', () => {
  test('are in the list from the beginning, with plain names and strict schemas', async () => {
    stage = await openStage()
    const { tools } = stage.registry.list()
    expect(tools.map(({ name }) => name)).toEqual(NAMES)
    expect(tools.filter(({ readOnly }) => !readOnly).map(({ name }) => name)).toEqual(CHANGING)
    for (const tool of tools) {
      expect(tool).toMatchObject({ server: 'parley', builtin: true, serverToolName: tool.name })
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(tool.modelSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(tool.unsupportedReason).toBeUndefined()
      expect(tool.description.length).toBeGreaterThan(40)
    }
  })

  test('refuse arguments that do not fit, and take null as absent', async () => {
    stage = await openStage({ files: { 'a.txt': 'A' } })
    for (const args of [{}, { path: 1 }, { path: 'a.txt', more: 1 }, 'a.txt', []])
      await expect(stage.call('read_file', args)).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' })
    expect(await stage.say('read_file', { path: 'a.txt', line: null })).toBe('A')
  })

  test('do not run outside of a turn, nor after their registry is closed', async () => {
    stage = await openStage()
    const { registry } = stage
    const options = { signal: new AbortController().signal }
    await expect(registry.call('list_directory', {}, options)).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
    await expect(registry.call('nothing', {}, options)).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
    await registry.close()
    expect(registry.list().tools).toEqual([])
    await expect(stage.call('list_directory', {})).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
  })

  test('have a preview for any arguments', async () => {
    stage = await openStage()
    expect(await stage.preview('read_file', { path: 'src/../a.txt' })).toEqual({
      title: 'Read a.txt',
      kind: 'read',
      locations: [{ path: stage.path('a.txt') }],
      paths: [stage.path('a.txt')],
    })
    const unfit = (why: string) => {
      return { title: 'Read file', kind: 'read', cannotRunReason: expect.stringContaining(why) as string }
    }
    expect(await stage.preview('read_file', { path: '/etc/passwd' })).toEqual(unfit('outside the directories'))
    expect(await stage.preview('read_file', 7)).toEqual(unfit('expected object'))
  })
})

test('plan shows the steps to users', async () => {
  stage = await openStage()
  const entries = [
    { content: 'Look', status: 'completed' },
    { content: 'Mend', status: 'pending', priority: 'high' },
  ]
  expect(await stage.say('plan', { entries })).toBe('The user sees the plan: 1 of 2 steps are done.')
  expect(stage.plans).toEqual([[{ ...entries[0], priority: 'medium' }, entries[1]]])
})

test('search_sessions searches the sessions of this directory, or all', async () => {
  const asked: unknown[] = []
  const times = { seq: 1, until: 2, at: 0 }
  const words = { by: 'agent', text: 'It was the cache.', highlights: [] } as const
  const hit = { sessionId: 's9', cwd: '/w', title: 'Mending', turn: 't1', ...times, ...words }
  stage = await openStage({
    search: {
      search: async (request) => {
        asked.push([request.query, request.cwd])
        return { hits: request.cwd === undefined ? [hit] : [], more: false, behind: 0 }
      },
    },
  })
  expect(await stage.say('search_sessions', { query: 'cache' })).toContain('or set everywhere')
  expect(await stage.say('search_sessions', { query: 'cache', everywhere: true })).toBe(
    'Mending (session s9 in /w), agent, 1970-01-01 00:00:\nIt was the cache.',
  )
  expect(asked).toEqual([stage.dir, undefined].map((cwd) => ['cache', cwd]))
})

test('list_directory lists entries down to a depth, without ignored ones', async () => {
  const empty = wordsIn('a.txt src/b.ts src/deep/c.ts src/deep/c.log out/x node_modules/y').map((path) => [path, ''])
  const files = { ...Object.fromEntries(empty), '.gitignore': 'out/\n*.log\n', 'src/.ignore': '!c.log\n' }
  stage = await openStage({ files })
  const list = (args: object) => stage.say('list_directory', args)
  expect(await list({})).toBe('.gitignore\na.txt\nsrc/')
  expect(await list({ path: 'src', depth: 3 })).toBe('.ignore\nb.ts\ndeep/\n  c.log\n  c.ts')
  expect(await list({ path: 'out' })).toBe('x')
  expect(await list({ ignored: true })).toContain('node_modules/')
  expect(await list({ path: 'a.txt' })).toBe('Error: a.txt is not a directory. Use read_file.')
  expect(await list({ path: 'no' })).toBe('Error: There is no directory no.')
})
