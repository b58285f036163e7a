/**
 * The official MCP conformance suite as a program. It is pinned here and not in package.json: it needs a newer Node than we do,
 * and nothing of it is ever imported.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
const NODE = 'node@22.23.3'
const TOOLS = join(import.meta.dirname, '../../../node_modules/.cache/parley-conformance')
const SUITE_NODE = join(TOOLS, 'node_modules/node/bin/node')
const SUITE_MAIN = join(TOOLS, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const

/** The first call needs the registry. */
export async function install(): Promise<void> {
  if (existsSync(SUITE_MAIN) && existsSync(SUITE_NODE)) return
  mkdirSync(TOOLS, { recursive: true })
  writeFileSync(join(TOOLS, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--no-audit', '--no-fund', '--save-exact', SUITE, NODE], { cwd: TOOLS })
}

/** The scenarios that a revision requires of one side. */
export async function required(side: 'client' | 'server', revision: string): Promise<readonly string[]> {
  const { said } = await suite(['list', '--requirements', revision])
  const [servers = '', clients = ''] = (said.split('Server scenarios')[1] ?? '').split('Client scenarios')
  const section = side === 'server' ? servers : (clients.split('never scored')[0] ?? '')
  return [...section.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = '']) => name)
}

/** What the suite says, and whether it is content. */
export async function suite(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly passed: boolean; readonly said: string }> {
  const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 }
  return run(SUITE_NODE, [SUITE_MAIN, ...args], options).then(
    ({ stdout, stderr }) => ({ passed: true, said: stdout + stderr }),
    ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ passed: false, said: stdout + stderr }),
  )
}
