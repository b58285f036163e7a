/** A resource that a session has read is marked when it changes: with the real documents server, in both protocols. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openBench } from '../fixtures/mcp/servers.ts'
import { changeTo, never, ruled } from '../fixtures/mcp/torture.ts'
import { binary, freshDirectory } from './parley.ts'

const opened: (() => unknown)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

test.each([
  ['legacy', 'legacy'],
  ['auto', 'modern'],
] as const)('where the protocol is %s', { timeout: 60_000 }, async (protocol, era) => {
  const home = freshDirectory()
  opened.push(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const notes = join(home, 'notes')
  mkdirSync(notes)
  for (const name of ['a', 'b']) writeFileSync(join(notes, `${name}.md`), `# ${name}\n\nBefore.\n`)
  const bench = openBench(ruled({ protocol }))
  opened.push(() => bench.close())
  const args = [binary, 'docs', notes, '--stdio']
  const registry = bench.open([
    { type: 'stdio', name: 's', command: process.execPath, args, env: { PARLEY_HOME: home, XDG_CONFIG_HOME: home } },
  ])
  expect((await registry.ready(30_000, never)).servers).toMatchObject([{ state: 'ready', era }])
  const uri = 'doc://notes/a.md'
  const read = async () => JSON.stringify(await registry.read('s', uri, { signal: never }))
  expect(await read()).toContain('Before.')
  writeFileSync(join(notes, 'a.md'), '# a\n\nAfter.\n')
  writeFileSync(join(notes, 'b.md'), '# b\n\nAfter.\n')
  const marked = () => registry.list().resources.flatMap((one) => (one.changed ? [one.uri] : []))
  await changeTo(registry, () => marked().length > 0)
  expect(marked()).toEqual([uri])
  expect(await read()).toContain('After.')
})
