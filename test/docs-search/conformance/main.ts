/** `npm run conformance -- docs`: the official suite against the document server, with its features mounted, and as it is. */
import { join } from 'node:path'
import { openDocsServer } from '../../../src/docs-search/server.ts'
import { setup } from '../../build.setup.ts'
import { REVISIONS, install, required, suite } from '../../conformance/mcp/official-suite.ts'
import { openConformanceDoor } from './server.ts'
import { withKey } from './with-key.ts'

const KEY = 'a-key-for-the-conformance-suite'
/** What needs no feature of the suite, and so must hold for the server as people run it. */
const FEATURELESS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'server-sse-multiple-streams',
    'server-session-lifecycle',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list',
    'resources-list',
    'server-sse-multiple-streams',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'http-header-validation',
    'input-required-result-unsupported-methods',
  ],
}

interface Examination {
  readonly url: string
  readonly revision: string
  readonly scenario: string
}

/** One after the other: some measure time. */
async function passes({ url, revision, scenario }: Examination): Promise<boolean> {
  const result = await suite(['server', '--url', url, '--scenario', scenario, '--spec-version', revision])
  const checks = /Passed: .*/.exec(result.said)?.[0] ?? 'no checks were made'
  console.log(`${result.passed ? '✓' : '✗'} ${scenario.padEnd(48)} ${checks}`)
  if (!result.passed) console.error(result.said.slice(-3_000))
  return result.passed
}

async function examine(
  what: string,
  url: string,
  wanted: (revision: string) => Promise<readonly string[]>,
): Promise<void> {
  const only = process.argv.slice(2)
  for (const revision of REVISIONS) {
    const scenarios = (await wanted(revision)).filter((name) => only.length === 0 || only.includes(name))
    let good = 0
    for (const scenario of scenarios) good += Number(await passes({ url, revision, scenario }))
    console.log(`${what}, MCP ${revision}: ${good} of ${scenarios.length} scenarios pass\n`)
    if (good < scenarios.length) process.exitCode = 1
  }
}

await Promise.all([install(), setup()])
const door = await openConformanceDoor()
await examine('With the features of the suite', door.url, (revision) => required('server', revision))
await door.close()
const plain = await openDocsServer({
  directories: [join(import.meta.dirname, '../../../docs')],
  keys: [KEY],
  workerUrl: new URL('../../../dist/docs-worker.cjs', import.meta.url),
  name: 'parley-docs',
  version: '0.0.0',
  log: () => undefined,
})
const open = await withKey(plain.port, KEY)
await examine('The server as it is, behind its key', open.url, async (revision) => FEATURELESS[revision] ?? [])
open.close()
await plain.close()
