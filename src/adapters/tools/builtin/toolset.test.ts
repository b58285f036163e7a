/** The tools of our own stand beside those of servers, in every session, and are as safe to call wrongly. */
import { afterEach, describe, expect, test } from 'vitest'
import { type Stage, openStage } from '../../../../test/fixtures/tools/stage.ts'

let stage: Stage
afterEach(() => stage.close())

describe('the tools of our own', () => {
  test('are in the list from the beginning, in plain names, with schemas that a model is held to', async () => {
    stage = await openStage()
    const { tools } = stage.registry.list()
    expect(tools.map(({ name }) => name).slice(0, 2)).toEqual(['read_file', 'list_directory'])
    for (const tool of tools) {
      expect(tool).toMatchObject({ server: 'parley', trusted: true, original: tool.name })
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(tool.modelSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(tool.unfit).toBeUndefined()
      expect(tool.description.length).toBeGreaterThan(40)
    }
  })

  test('refuse arguments that do not fit, and take null for nothing', async () => {
    stage = await openStage({ files: { 'a.txt': 'A' } })
    for (const args of [{}, { path: 1 }, { path: 'a.txt', more: 1 }, 'a.txt', []])
      await expect(stage.call('read_file', args)).rejects.toMatchObject({ code: 'TOOL_ARGUMENTS' })
    expect(await stage.say('read_file', { path: 'a.txt', line: null })).toBe('A')
  })

  test('are not run without somebody who calls, nor once their registry is closed', async () => {
    stage = await openStage()
    const { registry } = stage
    const options = { signal: new AbortController().signal }
    await expect(registry.call('list_directory', {}, options)).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
    await expect(registry.call('nothing', {}, options)).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
    await registry.close()
    expect(registry.list().tools).toEqual([])
    await expect(stage.call('list_directory', {})).rejects.toMatchObject({ code: 'TOOL_NOT_RUN' })
  })

  test('are previewed whatever the arguments are', async () => {
    stage = await openStage()
    expect(await stage.preview('read_file', { path: 'src/../a.txt' })).toEqual({
      title: 'Read a.txt',
      kind: 'read',
      locations: [{ path: stage.path('a.txt') }],
      paths: [stage.path('a.txt')],
    })
    expect(await stage.preview('read_file', { path: '/etc/passwd' })).toEqual({ title: 'Read file', kind: 'read' })
    expect(await stage.preview('read_file', 7)).toEqual({ title: 'Read file', kind: 'read' })
  })
})

describe('list_directory', () => {
  test('tells what is there, to a depth, without what is ignored', async () => {
    stage = await openStage({
      files: {
        'a.txt': '',
        'src/b.ts': '',
        'src/deep/c.ts': '',
        'src/deep/c.log': '',
        'out/x': '',
        'node_modules/y': '',
        '.gitignore': 'out/\n*.log\n',
        'src/.ignore': '!c.log\n',
      },
    })
    expect(await stage.say('list_directory', {})).toBe('.gitignore\na.txt\nsrc/')
    expect(await stage.say('list_directory', { path: 'src', depth: 3 })).toBe('.ignore\nb.ts\ndeep/\n  c.log\n  c.ts')
    expect(await stage.say('list_directory', { path: 'out' })).toBe('x')
    expect(await stage.say('list_directory', { ignored: true })).toContain('node_modules/')
    expect(await stage.say('list_directory', { path: 'a.txt' })).toBe('Error: a.txt is not a directory. Use read_file.')
    expect(await stage.say('list_directory', { path: 'no' })).toBe('Error: There is no directory no.')
  })
})
