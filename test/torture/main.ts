/** `npm run kill -- mcp --sessions 100`: opens, closes and kills sessions with MCP servers, and prints what is left; `--slow` waits for quiet servers as well. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { socketPathOf } from '../../src/config/socket.ts'
import { setup } from '../build.setup.ts'
import { runs, serverOf, until } from '../fixtures/process/running.ts'
import { manySessions } from './many-sessions.ts'
import { hear } from './quiet.ts'

const QUIET_MS = 6 * 60 * 1000

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '100' },
    slow: { type: 'boolean', default: false },
  },
})
const slow = values.slow ? Promise.all([hear('headers', QUIET_MS), hear('body', QUIET_MS)]) : undefined
const directory = mkdtempSync(join(tmpdir(), 'parley-torture-'))
const place = {
  home: join(directory, 'home'),
  socket: socketPathOf(join(directory, 'home')),
  cwd: join(directory, 'work'),
  agent: `script:${join(directory, 'script.jsonl')}`,
}
mkdirSync(place.cwd)
writeFileSync(join(directory, 'script.jsonl'), '{"chunk": "ready"}\n')
try {
  await setup()
  const figures = await manySessions(place, Number(values.sessions))
  const { sessions, most, afterClosing, memory, afterKilling, afterRestart } = figures
  console.log(`${sessions} sessions with three stdio servers each, five at once: ${most} processes at most`)
  console.log(`left when all were closed: ${afterClosing}`)
  console.log(`memory of the server on the way, MiB: ${memory.join(' ')}`)
  console.log(`left when server and guard were killed at once: ${afterKilling}; after the next start: ${afterRestart}`)
  if (afterClosing + afterRestart > 0) process.exitCode = 1
  for (const [index, heard] of ((await slow) ?? []).entries()) {
    const what = index === 0 ? 'that sent nothing' : 'that sent only the head of its answer'
    console.log(`heard after six minutes of a server ${what}: ${heard}`)
    if (heard !== 'at last') process.exitCode = 1
  }
} finally {
  const pid = serverOf(place)
  if (pid !== undefined && runs(pid)) process.kill(pid, 'SIGTERM')
  if (pid !== undefined) await until(() => !runs(pid), 20_000)
  rmSync(directory, { recursive: true, force: true })
}
// What waits for the killed server is of no more use.
process.exit()
