/**
 * Runs the official MCP conformance suite against our tool host and prints a table: `npm run conformance -- mcp`. With `--quick`
 * those scenarios that both revisions have run in the newest one alone.
 */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { type Socket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'
import { REVISIONS, install, required, suite } from './official-suite.ts'

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
  const newest = values.quick === true ? await required('client', REVISIONS[1]) : []
  for (const revision of REVISIONS) {
    const isLeftOut = (name: string) => revision !== REVISIONS[1] && newest.includes(name)
    const all = (await required('client', revision)).filter((name) => !isLeftOut(name))
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

interface Examination {
  readonly scenarios: readonly string[]
  readonly revision: string
  readonly client: string
  readonly turnstile: string
}

/** All in one run of the suite, whose start costs more than most scenarios. */
async function examined({ scenarios, revision, client, turnstile }: Examination): Promise<readonly Outcome[]> {
  const command = `${process.execPath} ${client}`
  const options = ['--requirements', revision, '--timeout', String(PATIENCE_MS)]
  const env = { PARLEY_TURNSTILE: turnstile, PARLEY_SCENARIOS: scenarios.join(' ') }
  const { said } = await suite(['client', '--command', command, ...options], env)
  const outcomes = scenarios.map((scenario) => {
    const [, sign, words = 'no checks were made'] = new RegExp(`^([✓✗]) ${scenario}: (.*)$`, 'mu').exec(said) ?? []
    return { scenario, passed: sign === '✓', words }
  })
  if (!outcomes.every(({ passed }) => passed)) console.error(said.slice(-20_000))
  return outcomes
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
