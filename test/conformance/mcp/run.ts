/** Runs the official MCP conformance suite against our tool host and prints a table: `npm run conformance:mcp`. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'

const run = promisify(execFile)

/** Pinned here and not in package.json: the suite needs a newer Node than we do, and nothing of it is ever imported. */
const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
const NODE = 'node@22.23.3'
const REVISIONS = ['2025-11-25', '2026-07-28'] as const
const TOOLS = join(import.meta.dirname, '../../../node_modules/.cache/parley-conformance')
const SUITE_NODE = join(TOOLS, 'node_modules/node/bin/node')
const SUITE_MAIN = join(TOOLS, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
/** Some scenarios measure time: on a small machine they must not run all at once. */
const AT_ONCE = 2

interface Outcome {
  readonly scenario: string
  readonly passed: boolean
  readonly words: string
}

async function main(): Promise<void> {
  await install()
  const client = await bundle()
  const wanted = process.argv.slice(2)
  for (const revision of REVISIONS) {
    const scenarios = (await listed(revision)).filter((name) => wanted.length === 0 || wanted.includes(name))
    const outcomes = await inTurn(scenarios, (scenario) => examine({ scenario, revision, client }))
    for (const { scenario, passed, words } of outcomes)
      console.log(`${passed ? '✓' : '✗'} ${scenario.padEnd(40)} ${words}`)
    const good = outcomes.filter(({ passed }) => passed).length
    console.log(`MCP ${revision}: ${good} of ${outcomes.length} required client scenarios pass\n`)
    if (good < outcomes.length) process.exitCode = 1
  }
}

async function install(): Promise<void> {
  if (existsSync(SUITE_MAIN) && existsSync(SUITE_NODE)) return
  mkdirSync(TOOLS, { recursive: true })
  writeFileSync(join(TOOLS, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--no-audit', '--no-fund', '--save-exact', SUITE, NODE], { cwd: TOOLS })
}

/** The suite starts the client once for each scenario; as one file it starts fast. */
async function bundle(): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), 'parley-conformance-')), 'client.mjs')
  const input = join(import.meta.dirname, 'client.ts')
  const build = await rolldown({ input, platform: 'node', logLevel: 'silent' })
  await build.write({ file, format: 'esm', codeSplitting: false })
  await build.close()
  return file
}

/** The client scenarios that a revision requires. */
async function listed(revision: string): Promise<readonly string[]> {
  const { stdout } = await run(SUITE_NODE, [SUITE_MAIN, 'list', '--requirements', revision])
  const section = stdout.split('Client scenarios')[1]?.split('never scored')[0] ?? ''
  return [...section.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = '']) => name)
}

interface Examination {
  readonly scenario: string
  readonly revision: string
  readonly client: string
}

async function examine({ scenario, revision, client }: Examination): Promise<Outcome> {
  const command = `${process.execPath} ${client}`
  const options = ['--scenario', scenario, '--spec-version', revision, '--timeout', '60000']
  const result = await run(SUITE_NODE, [SUITE_MAIN, 'client', '--command', command, ...options]).then(
    ({ stdout, stderr }) => ({ passed: true, said: stdout + stderr }),
    ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ passed: false, said: stdout + stderr }),
  )
  const words = /Passed: .*/.exec(result.said)?.[0] ?? 'no checks were made'
  if (!result.passed) console.error(result.said)
  return { scenario, passed: result.passed, words }
}

async function inTurn<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  const rest = [...items.entries()]
  const worker = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) results[next[0]] = await work(next[1])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}

await main()
