/**
 * Runs the official MCP conformance suite against our tool host and prints a table: `npm run conformance -- mcp`. With `--quick`
 * those scenarios that both revisions have run in the newest one alone.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { type Socket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
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
/** For a client that waits for its turn, on a machine that has other things to do. */
const PATIENCE_MS = 10 * 60 * 1000

interface Outcome {
  readonly scenario: string
  readonly passed: boolean
  readonly words: string
}

async function main(): Promise<void> {
  await install()
  const turnstile = await openTurnstile(AT_ONCE)
  const client = await bundle()
  const { values, positionals: wanted } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } })
  const newest = values.quick === true ? await listed(REVISIONS[1]) : []
  for (const revision of REVISIONS) {
    const isLeftOut = (name: string) => revision !== REVISIONS[1] && newest.includes(name)
    const all = (await listed(revision)).filter((name) => !isLeftOut(name))
    const scenarios = all.filter((name) => wanted.length === 0 || wanted.includes(name))
    if (scenarios.length === 0) continue
    const outcomes = await examined({ scenarios, revision, client, turnstile: turnstile.path })
    for (const { scenario, passed, words } of outcomes)
      console.log(`${passed ? '✓' : '✗'} ${scenario.padEnd(40)} ${words}`)
    const good = outcomes.filter(({ passed }) => passed).length
    console.log(`MCP ${revision}: ${good} of ${outcomes.length} required client scenarios pass\n`)
    if (good < outcomes.length) process.exitCode = 1
  }
  turnstile.close()
}

async function install(): Promise<void> {
  if (existsSync(SUITE_MAIN) && existsSync(SUITE_NODE)) return
  mkdirSync(TOOLS, { recursive: true })
  writeFileSync(join(TOOLS, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--no-audit', '--no-fund', '--save-exact', SUITE, NODE], { cwd: TOOLS })
}

/** The suite starts the client once for each scenario; as one file it starts fast. It stands where native packages are found. */
async function bundle(): Promise<string> {
  const cache = join(import.meta.dirname, '../../../node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const file = join(mkdtempSync(join(cache, 'parley-conformance-')), 'client.mjs')
  const input = join(import.meta.dirname, 'client.ts')
  const external = [/^@photostructure\/sqlite$/]
  const build = await rolldown({ input, external, platform: 'node', logLevel: 'silent' })
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
  readonly scenarios: readonly string[]
  readonly revision: string
  readonly client: string
  readonly turnstile: string
}

/** All in one run of the suite, whose start costs more than most scenarios; what failed there has one more chance alone. */
async function examined({ scenarios, ...examination }: Examination): Promise<readonly Outcome[]> {
  const said = await suite(['--requirements', examination.revision], { scenarios, ...examination })
  const outcomes: Outcome[] = []
  for (const scenario of scenarios) {
    const [, sign, words = ''] = new RegExp(`^([✓✗]) ${scenario}: (.*)$`, 'mu').exec(said) ?? []
    outcomes.push(sign === '✓' ? { scenario, passed: true, words } : await alone(scenario, examination))
  }
  return outcomes
}

async function alone(scenario: string, examination: Omit<Examination, 'scenarios'>): Promise<Outcome> {
  const options = ['--scenario', scenario, '--spec-version', examination.revision]
  const said = await suite(options, { scenarios: [scenario], ...examination })
  const words = /Passed: .*/u.exec(said)?.[0] ?? 'no checks were made'
  const passed = /Passed: (\d+)\/\1, 0 failed/u.test(words)
  if (!passed) console.error(said)
  return { scenario, passed, words: `${words} (alone)` }
}

/** What the suite says, whether or not it is content. */
async function suite(options: readonly string[], { scenarios, client, turnstile }: Examination): Promise<string> {
  const command = `${process.execPath} ${client}`
  const env = { ...process.env, PARLEY_TURNSTILE: turnstile, PARLEY_SCENARIOS: scenarios.join(' ') }
  const all = ['client', '--command', command, ...options, '--timeout', String(PATIENCE_MS)]
  const settled = await run(SUITE_NODE, [SUITE_MAIN, ...all], { env, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  )
  return settled.stdout + settled.stderr
}

interface Turnstile {
  readonly path: string
  close(): void
}

/** Lets so many in at once; whoever is in stays so until it hangs up. */
async function openTurnstile(width: number): Promise<Turnstile> {
  const waiting: Socket[] = []
  let inside = 0
  const admit = (): void => {
    for (let next = waiting.shift(); next !== undefined && inside < width; next = waiting.shift()) {
      inside += 1
      next.on('close', () => {
        inside -= 1
        admit()
      })
      next.write('.')
      if (inside >= width) return
    }
  }
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    waiting.push(socket)
    if (inside < width) admit()
  })
  const path = join(mkdtempSync(join(tmpdir(), 'parley-turnstile-')), 'socket')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return { path, close: () => void server.close() }
}

await main()
