/** A disk that takes what is written and fails to keep it: nobody is told what it may have lost. */
import { spawnSync } from 'node:child_process'
import { afterEach, expect, test } from 'vitest'
import { type SeenUpdate, textOf, updatesIn } from '../e2e/message.ts'
import { Town } from './town.ts'

/** Under strace, on a machine that is busy with other things. Milliseconds. */
const LONG = 120_000

const towns: Town[] = []

afterEach(async () => {
  for (const town of towns.splice(0)) await town.raze()
})

/** From the 20th sync of a thread on so many fail, as the kernel lets them fail. */
function failing(count: number): readonly string[] {
  const inject = (call: string): readonly string[] => ['-e', `inject=${call}:error=EIO:when=20..${19 + count}`]
  const calls = ['-e', 'trace=fsync,fdatasync', ...inject('fsync'), ...inject('fdatasync')]
  return ['strace', '-D', '-f', '-qq', '-o', '/dev/null', ...calls]
}

const said = (updates: readonly SeenUpdate[]): string =>
  updates
    .filter(({ update }) => update.sessionUpdate === 'agent_message_chunk')
    .map(textOf)
    .join('')

test(
  'a sync that fails ends the turn with an error, what clients saw is stored, and a later prompt works',
  async () => {
    expect(spawnSync('strace', ['-V']).status, 'this test needs strace: apt-get install strace').toBe(0)
    const town = await Town.found([{ chunk: 'word {n} ', times: 100, everyMs: 5 }])
    towns.push(town)
    await town.serve({}, failing(3))
    const relay = await town.relay()
    const opening = { cwd: town.cwd, mcpServers: [] }
    const { result } = await relay.request('session/new', opening)
    const sessionId = String(result?.['sessionId'])
    const ask = { sessionId, prompt: [{ type: 'text', text: 'Go.' }] }
    const { error } = await relay.request('session/prompt', ask)
    expect(error?.data).toMatchObject({ code: 'JOURNAL_IO', retryable: true })
    const told = said(updatesIn(relay.received, sessionId))
    expect(told).toContain('word 1 ')
    // The end of the first turn and the next prompt may meet what is left of the failures.
    for (let attempt = 0; (await relay.request('session/prompt', ask)).error !== undefined; attempt += 1)
      expect(attempt).toBeLessThan(3)
    const end = relay.received.length
    await relay.request('session/load', { sessionId, ...opening })
    const loaded = said(updatesIn(relay.received.slice(end), sessionId))
    expect(loaded.startsWith(told.split('This turn failed')[0] ?? '')).toBe(true)
    expect(loaded).toContain('This turn failed: The journal')
  },
  LONG,
)
