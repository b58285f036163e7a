/** Parley's own tools on the real binary: by name for people, and as an agent calls them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { endServers, parley, workIn } from './cli.ts'
import { freshDirectory } from './parley.ts'

endServers()

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
})
