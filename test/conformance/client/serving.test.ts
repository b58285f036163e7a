/** Files and terminals that our client serves to an agent, inside the root set and nowhere else. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PerTest } from '../../fixtures/process/per-test.ts'
import type { Fields } from '../../e2e/message.ts'
import { running, until } from '../../fixtures/process/running.ts'
import { ENDS, NEW, Scene, type Step, asks, update } from './scene.ts'

const scenes = new PerTest<Scene>(async (opened) => {
  for (const made of opened) made.close()
})
scenes.closeAfterEach()

/** A turn in which the agent asks for this; where it works is told to whoever builds the steps. */
async function turn(prepare: (cwd: string, directory: string) => readonly Step[]): Promise<Scene> {
  const book: Record<string, readonly Step[]> = { 'session/new': NEW }
  const scene = new Scene(book)
  scenes.add(scene)
  book['session/prompt'] = [...prepare(scene.cwd, scene.directory), ENDS]
  expect(await scene.run()).toMatchObject({ code: 0 })
  return scene
}

const refused = (code: number) => ({ error: { code } })
const content = (scene: Scene, id: string): unknown => scene.answer(id)?.result?.['content']

describe.concurrent('files', () => {
  test.concurrent('are read from the line that is named', async () => {
    const scene = await turn((cwd) => {
      const path = join(cwd, 'a.txt')
      writeFileSync(path, 'one\ntwo\nthree\n汉\n')
      return [
        asks('all', 'fs/read_text_file', { path }),
        asks('two', 'fs/read_text_file', { path, line: 2, limit: 2 }),
        asks('rest', 'fs/read_text_file', { path, line: 4, limit: null }),
        asks('past', 'fs/read_text_file', { path, line: 9 }),
      ]
    })
    expect(['all', 'two', 'rest', 'past'].map((id) => content(scene, id))).toEqual([
      'one\ntwo\nthree\n汉\n',
      'two\nthree\n',
      '汉\n',
      '',
    ])
  })

  test.concurrent('C-FS-1 are made when they are missing, and replaced when they are there', async () => {
    const scene = await turn((cwd) => {
      writeFileSync(join(cwd, 'old.txt'), 'something longer')
      return [
        asks(1, 'fs/write_text_file', { path: join(cwd, 'new', 'deep.txt'), content: 'made' }),
        asks(2, 'fs/write_text_file', { path: join(cwd, 'old.txt'), content: 'short' }),
      ]
    })
    expect([scene.answer(1)?.result, scene.answer(2)?.result]).toEqual([{}, {}])
    expect(readFileSync(join(scene.cwd, 'new', 'deep.txt'), 'utf8')).toBe('made')
    expect(readFileSync(join(scene.cwd, 'old.txt'), 'utf8')).toBe('short')
  })

  test.concurrent('C-FS-2 outside the root set are neither read nor written, by whatever way', async () => {
    const ways = (cwd: string, directory: string): readonly string[] => [
      '/etc/hostname',
      `${cwd}/../outside/secret.txt`,
      join(cwd, 'link', 'secret.txt'),
      join(cwd, 'dangling'),
      join(`${cwd}-more`, 'secret.txt'),
      join(directory, 'outside', 'new.txt'),
    ]
    const scene = await turn((cwd, directory) => {
      for (const name of ['outside', 'work-more']) mkdirSync(join(directory, name))
      for (const name of ['outside', 'work-more']) writeFileSync(join(directory, name, 'secret.txt'), 'secret')
      symlinkSync(join(directory, 'outside'), join(cwd, 'link'))
      symlinkSync(join(directory, 'outside', 'new.txt'), join(cwd, 'dangling'))
      return ways(cwd, directory).flatMap((path, index) => [
        asks(`r${index}`, 'fs/read_text_file', { path }),
        asks(`w${index}`, 'fs/write_text_file', { path, content: 'overwritten' }),
      ])
    })
    for (const index of ways('', '').keys())
      for (const id of [`r${index}`, `w${index}`]) expect(scene.answer(id)).toMatchObject(refused(-32_602))
    expect(readFileSync(join(scene.directory, 'outside', 'secret.txt'), 'utf8')).toBe('secret')
    expect(existsSync(join(scene.directory, 'outside', 'new.txt'))).toBe(false)
  })

  test.concurrent('that are not there, are none, or are asked for oddly get one clear answer', async () => {
    const odd: readonly (readonly [Fields, number])[] = [
      [{ path: 'gone.txt' }, -32_602],
      [{ path: 5 }, -32_602],
      [{}, -32_602],
      [{ path: '/x\0y' }, -32_602],
      [{ path: '/x', line: -1 }, -32_602],
      [{ sessionId: 5, path: '/x' }, -32_602],
    ]
    const scene = await turn((cwd) => [
      asks('gone', 'fs/read_text_file', { path: join(cwd, 'gone.txt') }),
      asks('folder', 'fs/read_text_file', { path: cwd }),
      ...odd.map(([params], index) => asks(index, 'fs/read_text_file', params)),
    ])
    expect(scene.answer('gone')).toMatchObject(refused(-32_002))
    expect(scene.answer('folder')).toMatchObject(refused(-32_603))
    for (const [index, [, code]] of odd.entries()) expect(scene.answer(index)).toMatchObject(refused(code))
  })
})

describe.concurrent('terminals', () => {
  const create = (id: string, command: string, more: Fields = {}): Step =>
    asks(id, 'terminal/create', { command: '/bin/sh', args: ['-c', command], ...more })
  const of = (method: string, terminal = 1): Step =>
    asks(method, `terminal/${method}`, { terminalId: `terminal-${terminal}` })

  test.concurrent('C-TM-1 run with the arguments, the environment and the directory that are named, and are not waited for', async () => {
    const scene = await turn((cwd) => {
      mkdirSync(join(cwd, 'sub'))
      return [
        create('t', 'sleep 0.2; echo "$COLOUR in $(pwd)"; echo err >&2; exit 3', {
          env: [{ name: 'COLOUR', value: 'mauve' }],
          cwd: join(cwd, 'sub'),
        }),
        asks('early', 'terminal/output', { terminalId: 'terminal-1' }),
        of('wait_for_exit'),
        of('output'),
        of('release'),
      ]
    })
    expect(scene.answer('early')?.result).toEqual({ output: '', truncated: false })
    expect(scene.answer('wait_for_exit')?.result).toEqual({ exitCode: 3, signal: null })
    expect(scene.answer('output')?.result).toEqual({
      output: `mauve in ${join(scene.cwd, 'sub')}\nerr\n`,
      truncated: false,
      exitStatus: { exitCode: 3, signal: null },
    })
  })

  test.concurrent('C-TM-1 C-TM-2 keep the end of their output, from where a character begins', async () => {
    const scene = await turn(() => [
      create('t', 'printf "aaaa%s%s%s" 🙂 🙂 🙂', { outputByteLimit: 10 }),
      of('wait_for_exit'),
      of('output'),
    ])
    expect(scene.answer('output')?.result).toMatchObject({ output: '🙂🙂', truncated: true })
  })

  test.concurrent('C-TM-3 that are killed can still be asked; once released they are gone', async () => {
    const scene = await turn(() => [
      create('t', 'echo begun; sleep 1007'),
      asks('wait', 'terminal/output', { terminalId: 'terminal-1' }),
      of('kill'),
      of('wait_for_exit'),
      of('output'),
      of('release'),
      asks('again', 'terminal/output', { terminalId: 'terminal-1' }),
    ])
    expect(scene.answer('kill')?.result).toEqual({})
    expect(scene.answer('wait_for_exit')?.result).toEqual({ exitCode: null, signal: 'SIGKILL' })
    expect(scene.answer('output')).toMatchObject({ result: { exitStatus: { signal: 'SIGKILL' } } })
    expect(scene.answer('again')).toMatchObject(refused(-32_002))
  })

  test.concurrent('C-TM-4 that a tool call shows stay to be read in it when they are released', async () => {
    const call = (status: string) => ({
      sessionUpdate: status === 'pending' ? 'tool_call' : 'tool_call_update',
      toolCallId: 'c',
      ...(status === 'pending' ? { title: 'Makes' } : {}),
      status,
      content: [{ type: 'terminal', terminalId: 'terminal-1' }],
    })
    const book: Record<string, readonly Step[]> = { 'session/new': NEW }
    const made = new Scene(book)
    scenes.add(made)
    book['session/prompt'] = [
      create('t', 'echo no rule to make it; exit 2'),
      update(call('pending')),
      of('wait_for_exit'),
      of('release'),
      update(call('failed')),
      ENDS,
    ]
    const { stdout } = await made.run('--json')
    const shown = stdout.split('\n').filter((line) => line.includes('"toolCallId":"c"'))
    expect(shown).toHaveLength(3)
    expect(shown[0]).toContain('"terminalId":"terminal-1"')
    for (const line of shown.slice(1))
      expect(JSON.parse(line)).toMatchObject({
        update: { content: [{ type: 'content', content: { type: 'text', text: 'no rule to make it\n' } }] },
      })
    expect((await made.run()).stderr).toContain('Makes — no rule to make it')
  })

  test.concurrent('that the agent forgets end with it, and all that they started', async () => {
    await turn(() => [create('t', 'sleep 1011 & sleep 1012')])
    await until(() => running('sleep 1011').length + running('sleep 1012').length === 0)
  })

  test.concurrent('outside the root set do not run', async () => {
    const scene = await turn(() => [create('t', 'true', { cwd: '/' }), create('u', 'true', { cwd: 'sub' })])
    for (const id of ['t', 'u']) expect(scene.answer(id)).toMatchObject(refused(-32_602))
  })

  test.concurrent('of a command that is not there say so', async () => {
    const scene = await turn(() => [asks('t', 'terminal/create', { command: '/no/such/program' })])
    expect(scene.answer('t')).toMatchObject({
      error: { message: expect.stringContaining('/no/such/program') as string },
    })
  })
})
