import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openChecker } from '../../../test/fixtures/tools/checker.ts'
import { systemClock } from '../../adapters/clock.ts'
import { openProcesses } from '../../adapters/process/spawn.ts'
import { openToolHost } from '../../adapters/tool-registry/host.ts'
import type { Rules } from '../../ports/rules.ts'
import { openDocsPool } from './docs-pool.ts'

const rules: Pick<Rules, 'rulesFor'> = { rulesFor: async (roots) => ({ rules: [], roots, own: [] }) }

test('sessions of the same directories share one index, and it ends with the last of them', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parley-shared-'))
  await writeFile(join(directory, 'a.md'), 'alpha')
  const documents = openDocsPool({ rules, report: () => undefined })
  onTestFinished(async () => {
    await documents.close()
    await rm(directory, { recursive: true })
  })
  const [one, two] = [{ roots: [directory] }, { roots: [directory] }]
  const places = await Promise.all([one, two, two].map((request) => documents.builtin.connect(request)))
  const first = places[0]
  const url = first !== undefined && 'url' in first ? first.url : ''
  expect(new Set(places.map((place) => ('url' in place ? place.url : '')))).toEqual(new Set([url]))

  await documents.builtin.release(one)
  await documents.builtin.release(one)
  expect((await fetch(url)).status).toBe(401)
  await documents.builtin.release(two)
  await expect(fetch(url)).rejects.toThrow(/fetch failed/)
  expect(await documents.builtin.connect(one)).toMatchObject({ url: expect.not.stringMatching(url) })
})

test('its tools are known before it is started, exactly as it lists them then', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parley-foreseen-'))
  await writeFile(join(directory, 'a.md'), 'alpha')
  const documents = openDocsPool({ rules, report: () => undefined })
  const processes = openProcesses({ boot: { home: 'h', id: 'b' }, environment: {}, clock: systemClock })
  const clientInfo = { name: 'test', version: '0' }
  const checker = openChecker()
  const host = openToolHost({ processes, checker, clock: systemClock, clientInfo, builtin: [documents.builtin] })
  const registry = host.open({ scope: 's', cwd: directory, roots: [directory, directory], servers: [] })
  onTestFinished(async () => {
    await registry.close()
    await host.close()
    await Promise.all([documents.close(), processes.close(), checker.close()])
    await rm(directory, { recursive: true })
  })
  const { signal } = new AbortController()
  const foreseen = await registry.ready(20_000, signal)
  expect(foreseen.servers[0]?.state).toBe('idle')
  await registry.call('docs__list_documents', {}, { signal })
  const listed = registry.list()
  expect(listed.servers[0]?.state).toBe('ready')
  expect(foreseen.tools.length).toBeGreaterThan(3)
  // A permission that somebody gave for the one is one for the other: the digests are equal too.
  expect(foreseen.tools).toEqual(listed.tools)
})
