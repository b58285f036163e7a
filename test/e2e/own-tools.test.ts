/** Parley's own tools on the real binary: by name for people, and as an agent calls them. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { endServers, jsonLines, parley, workIn } from './cli.ts'
import { freshDirectory, scriptAgent } from './parley.ts'

endServers()

interface Update {
  readonly update?: { readonly toolCallId?: string; readonly status?: string; readonly content?: unknown }
}

describe.concurrent('the tools of our own', () => {
  test.concurrent('are called by name', async () => {
    const home = freshDirectory()
    await writeFile(join(workIn(home), 'README.md'), 'Read me, 世界.\n')
    const run = { home, agent: 'guide' }
    const read = await parley(['run', '/call read_file {"path":"README.md"}'], run)
    expect(read).toMatchObject({ code: 0, stdout: 'Read me, 世界.\n', stderr: '✓ Read README.md\n' })
    const listed = await parley(['run', '/tools'], run)
    expect(listed.stdout).toContain('**Parley’s own**\n- `read_file` Reads a text file')
    const outside = await parley(['run', '/call read_file {"path":"../secret"}'], run)
    expect(outside.stdout).toContain('is outside the directories of this session')
  })

  test.concurrent('read, edit, run and fail as an agent calls them, each told as one call', async () => {
    const home = freshDirectory()
    const path = join(workIn(home), 'a.txt')
    await writeFile(path, 'one\r\ntwo\r\n')
    const call = (name: string, args: object) => ({ toolCall: { name, arguments: args } })
    const edits = [{ old_text: 'two\n', new_text: 'three\n' }]
    const steps = [
      call('edit_file', { path: 'a.txt', edits }),
      call('read_file', { path: 'a.txt' }),
      call('edit_file', { path: 'a.txt', edits }),
      call('run_command', { command: 'cat a.txt; echo err >&2; exit 3' }),
      call('search_text', { pattern: '^three' }),
      call('plan', { entries: [{ content: 'Look', status: 'completed' }] }),
    ]
    const ended = await parley(['run', '--json', 'go'], { home, agent: await scriptAgent(home, steps) })
    const updates = jsonLines(ended.stdout) as readonly Update[]
    const ends = updates.flatMap(({ update }) =>
      update?.status === 'failed' || update?.status === 'completed' ? [update] : [],
    )
    const [refused, read, edited, ran, searched, planned] = ends.map((update) => JSON.stringify(update))
    expect(ends.map(({ status }) => status)).toEqual([
      'failed',
      'completed',
      'completed',
      'failed',
      'completed',
      'completed',
    ])
    expect(new Set(updates.flatMap(({ update }) => update?.toolCallId ?? [])).size).toBe(steps.length)
    expect(refused).toContain('Read a.txt with read_file first.')
    expect(read).toContain('one\\ntwo')
    expect(edited).toContain('"type":"diff"')
    expect(ran).toContain('err\\n[Exit code 3.]')
    expect(searched).toContain('a.txt:2:three')
    expect(planned).toContain('1 of 1 steps')
    expect(await readFile(path, 'utf8')).toBe('one\r\nthree\r\n')
  })
})
