/**
 * `npm run conformance -- relay`: the tests of the relay, as they are, at a front node of a cluster whose sessions are all at another
 * node. A few say something of a machine alone; they are named in `exceptions.ts` with their reasons.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresServer } from '../../postgres/server.ts'
import { DATABASE } from './behind-front.ts'
import { exceptions } from './exceptions.ts'

interface Report {
  readonly testResults: readonly {
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)
const OTHERS = `^(?!(?:${exceptions.map(({ test }) => escaped(test)).join('|')})$)`

async function tested(url: string): Promise<Report> {
  const directory = mkdtempSync(join(tmpdir(), 'conformance-relay-'))
  const file = join(directory, 'report.json')
  const chosen = process.argv.includes('--all') ? [] : ['--testNamePattern', OTHERS]
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const args = ['vitest', 'run', '--project=test', '--project=heavy', 'test/e2e/relay', ...chosen, ...reporters]
  const running = spawn('npx', args, { stdio: 'inherit', env: { ...process.env, [DATABASE]: url } })
  await once(running, 'exit')
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function main(): Promise<number> {
  const server = await PostgresServer.start(['fsync=off', 'full_page_writes=off'])
  try {
    return printed(await tested(server.url))
  } finally {
    await server.close()
  }
}

function printed({ testResults }: Report): number {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults)
  const names = new Set(all.map(({ fullName }) => fullName))
  const unknown = exceptions.filter(({ test }) => !names.has(test))
  const count = (status: string) => all.filter((one) => one.status === status).length
  for (const { test, reason } of exceptions) console.log(`not here: ${test}\n          ${reason}`)
  for (const { test } of unknown) console.log(`there is no test of this name any more: ${test}`)
  for (const one of all.filter(({ status }) => status === 'failed'))
    console.log(`FAILED: ${one.fullName}\n${one.failureMessages.join('\n').slice(0, 600)}`)
  const [passed, failed] = [count('passed'), count('failed')]
  console.log(
    `relay, through a front node: ${passed} passed, ${failed} failed, ${exceptions.length} of ${all.length} not here`,
  )
  const isWhole = passed + failed + exceptions.length === all.length || process.argv.includes('--all')
  return failed === 0 && unknown.length === 0 && isWhole && passed > 0 ? 0 : 1
}

process.exit(await main())
