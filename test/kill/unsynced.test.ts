/** The power of one process goes between the writing of a commit and its sync: whoever reads it next puts it on the disk before telling it. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { RawSocket } from '../e2e/raw-socket.ts'
import { until } from '../fixtures/process/running.ts'
import { Town } from './town.ts'
import { parseTrace } from './trace.ts'

/** Under strace, on a machine that is busy with other things. Milliseconds. */
const LONG = 120_000

const towns: Town[] = []

afterEach(async () => {
  for (const town of towns.splice(0)) await town.raze()
})

const strace = (...more: readonly string[]): readonly string[] => ['strace', '-D', '-f', '-y', '-qq', ...more]

test(
  'what the last owner had written and not synced is on the disk before anyone hears of it',
  async () => {
    expect(spawnSync('strace', ['-V']).status, 'this test needs strace: apt-get install strace').toBe(0)
    const town = await Town.found([{ chunk: 'word' }])
    towns.push(town)
    const log = join(town.home, 'journal.db-wal')
    // The first sync is that of the log's header, the second that of its first commit: it dies as it asks for that.
    const dying = ['-P', log, '-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:signal=SIGKILL:when=2']
    await town.serve({}, strace('-o', '/dev/null', ...dying))
    const creator = await RawSocket.open(town.socket)
    creator.request('session/new', { cwd: town.cwd, mcpServers: [] }).catch(() => undefined)
    await creator.closed
    await until(() => town.server() === undefined)
    const trace = join(town.directory, 'trace.txt')
    await town.serve({}, strace('-s', '100000', '-o', trace, '-e', 'trace=fsync,fdatasync,write,writev,sendto'))
    const reader = await RawSocket.open(town.socket)
    const { result } = await reader.request('session/list', {})
    const [session] = (result?.['sessions'] ?? []) as readonly { readonly sessionId: string }[]
    expect(session).toBeDefined()
    await town.killServer()
    await until(() => readFileSync(trace, 'latin1').includes('killed by SIGKILL'))
    const calls = parseTrace(readFileSync(trace, 'latin1'))
    const synced = calls.findIndex(
      ({ name, args, result }) => /^f(?:data)?sync$/u.test(name) && args.includes(log) && result === 0,
    )
    const told = calls.findIndex(({ args }) => args.includes('socket:') && args.includes(session?.sessionId ?? 'none'))
    expect(synced).toBeGreaterThanOrEqual(0)
    expect(told).toBeGreaterThan(synced)
  },
  LONG,
)
